/** Parses the lines that the preloaded `probe.ts` writes, and computes the differences between two of them. */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A line; all but the last two only ever grow. */
export interface Reading {
  /** On the system's monotonic clock. */
  readonly atUs: number;
  /** In V8's heap. */
  readonly allocatedBytes: number;
  /** Buffers, outside of the heap. */
  readonly outsideBytes: number;
  readonly collections: number;
  readonly collectionUs: number;
  /** In the heap and outside of it. */
  readonly heldBytes: number;
  readonly rssBytes: number;
}

const probe = fileURLToPath(new URL('probe.ts', import.meta.url));

/** How a subject is started so that it writes them; `collects`: all garbage is collected before each line. */
export function withProbe(
  file: string,
  collects: boolean,
): { readonly nodeOptions: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  return {
    nodeOptions: [`--import=${probe}`],
    env: { BENCH_PROBE: file, ...(collects ? { BENCH_PROBE_COLLECT: '1' } : {}) },
  };
}

export function readReadings(file: string): Reading[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.slice(0, -1).map((line) => JSON.parse(line)); // the text after the last line end is not complete yet
}

export type Allocation = Pick<Reading, 'allocatedBytes' | 'outsideBytes' | 'collections' | 'collectionUs'>;

/** The allocation per request, for requests answered evenly over the span; undefined if fewer than two lines are in it. */
export function allocationPerRequest(
  readings: readonly Reading[],
  span: { readonly fromUs: number; readonly toUs: number },
  requests: number,
): Allocation | undefined {
  const within = readings.filter(({ atUs }) => atUs >= span.fromUs && atUs <= span.toUs);
  const [first] = within;
  const last = within.at(-1);
  if (first === undefined || last === undefined || first === last) return undefined;
  const answered = requests * ((last.atUs - first.atUs) / (span.toUs - span.fromUs));
  const each = (pick: (one: Reading) => number): number => (pick(last) - pick(first)) / answered;
  return {
    allocatedBytes: each((one) => one.allocatedBytes),
    outsideBytes: each((one) => one.outsideBytes),
    collections: each((one) => one.collections),
    collectionUs: each((one) => one.collectionUs),
  };
}
