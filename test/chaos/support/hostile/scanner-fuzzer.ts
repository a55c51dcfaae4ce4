/** A thread that scans random documents; its current one can be read from outside, even if it hangs. */

import { AssertionError } from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { scannerProperties } from '../../../support/json/scanner-oracle.ts';
import { createRandom } from '../random.ts';

export interface FuzzTask {
  readonly seed: number;
  readonly documents: number;
  readonly timeLimitMs: number;
  /** See `toSight`. */
  readonly shared: SharedArrayBuffer;
}

/** A property that does not hold. */
export interface FuzzFault {
  readonly kind: 'throw' | 'disagreement';
  /** What was found, with the smallest document and what repeats it. */
  readonly report: string;
}

/** The document being judged: how many there were, how long it is, and the bytes of it that fit. */
export interface Sight {
  readonly numbers: Int32Array;
  readonly bytes: Uint8Array;
}

const longestShown = 256 * 1024;
export const sightBytes: number = 8 + longestShown;

export function toSight(shared: SharedArrayBuffer): Sight {
  return { numbers: new Int32Array(shared, 0, 2), bytes: new Uint8Array(shared, 8, longestShown) };
}

/** How many documents a property of weight 1 judges before the next one has its turn. */
const runsPerTurn = 250;

async function fuzz({ seed, documents, timeLimitMs, shared }: FuzzTask): Promise<readonly FuzzFault[]> {
  const random = createRandom(seed);
  const { numbers, bytes } = toSight(shared);
  const faults: FuzzFault[] = [];
  const endMs = performance.now() + timeLimitMs;
  let properties = scannerProperties((document) => {
    bytes.set(document.subarray(0, longestShown));
    Atomics.store(numbers, 1, document.length);
    Atomics.add(numbers, 0, 1);
  });
  while (properties.length > 0 && Atomics.load(numbers, 0) < documents && performance.now() < endMs) {
    for (const property of properties) {
      try {
        await property.hold({ numRuns: property.weight * runsPerTurn, seed: Math.floor(random() * 2 ** 31) });
      } catch (error) {
        faults.push(toFault(property.title, error));
        properties = properties.filter((other) => other !== property);
      }
    }
  }
  return faults;
}

function toFault(title: string, error: unknown): FuzzFault {
  if (!(error instanceof Error)) return { kind: 'throw', report: `${title}: ${error}` };
  const kind = error.cause instanceof AssertionError ? 'disagreement' : 'throw';
  return { kind, report: `${title}: ${error.message}\n${error.cause ?? ''}` };
}

if (parentPort !== null) {
  const task: FuzzTask = workerData;
  parentPort.postMessage(await fuzz(task));
}
