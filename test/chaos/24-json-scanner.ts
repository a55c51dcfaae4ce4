/** Promise 24: for random, broken and long documents, the request scanner agrees with `JSON.parse` and terminates. */

import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { definePromise, type Figure, type Scale } from './promise.ts';
import { type FuzzFault, type FuzzTask, sightBytes, toSight } from './support/hostile/scanner-fuzzer.ts';
import { none } from './support/readings/findings.ts';

const sizes: Readonly<Record<Scale, { readonly documents: number; readonly timeLimitMs: number }>> = {
  long: { documents: 1_000_000, timeLimitMs: 480_000 },
  short: { documents: 10_000, timeLimitMs: 20_000 },
};

/** A document takes well under a millisecond. */
const hangMs = 10_000;
const lookMs = 200;
const shownBytes = 2_000;

export default definePromise({
  no: 24,
  title: 'the JSON scanner is compared with JSON.parse, with random documents',
  async run({ t, scale, seed, progress }) {
    const { documents, timeLimitMs } = sizes[scale];
    const shared = new SharedArrayBuffer(sightBytes);
    const sight = toSight(shared);
    const task: FuzzTask = { seed, documents, timeLimitMs, shared };
    const worker = new Worker(new URL('./support/hostile/scanner-fuzzer.ts', import.meta.url), { workerData: task });
    t.after(() => worker.terminate());
    const ended = new Promise<readonly FuzzFault[]>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });

    let judged = 0;
    let changedAtMs = performance.now();
    let faults: readonly FuzzFault[] | undefined;
    while (faults === undefined && performance.now() - changedAtMs < hangMs) {
      faults = await Promise.race([ended, wait(lookMs, undefined)]);
      const count = Atomics.load(sight.numbers, 0);
      if (count !== judged) changedAtMs = performance.now();
      judged = count;
      progress(`${judged} of ${documents} documents`);
    }

    const hangs = faults === undefined ? [`at ${show(sight)}`] : [];
    const reports = (kind: FuzzFault['kind']): readonly string[] =>
      (faults ?? []).filter((fault) => fault.kind === kind).map(({ report }) => report);
    return [
      {
        name: 'documents judged',
        bar: `${documents}, or what ${timeLimitMs / 1_000} s allow`,
        measured: String(judged),
        met: judged >= documents,
      },
      inFull('throws', reports('throw')),
      inFull('hangs', hangs),
      inFull('disagreements', reports('disagreement')),
    ];
  },
});

/** A document that is cut short repeats nothing. */
function inFull(name: string, reports: readonly string[]): Figure {
  const figure = none(name, reports);
  if (figure.met) return figure;
  return { ...figure, measured: `${reports.length}: ${reports.join('; ').replaceAll(/\s*\n\s*/g, ' | ')}` };
}

function show({ numbers, bytes }: ReturnType<typeof toSight>): string {
  const length = Atomics.load(numbers, 1);
  // Text is not decoded from shared memory.
  const start = Buffer.from(bytes.slice(0, Math.min(length, shownBytes)));
  return `a document of ${length} bytes, in base64: ${start.toString('base64')}`;
}
