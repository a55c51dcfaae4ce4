/** Histograms as differences of counts, and the percentiles that can be read off them. */

import type { Series } from './reading.ts';

/** How often each bucket was hit between two readings; the last one has no upper bound. */
export type Buckets = readonly number[];

/** What was added to a count. A sum falls where models are forgotten that are long gone: nothing of it is new. */
export function growth(now: number, before: number | undefined): number {
  return before === undefined ? now : Math.max(0, now - before);
}

/** Over all series. */
export function growthOfBuckets(now: Series, before: Series, bucketCount: number): number[] {
  const sum = new Array<number>(bucketCount).fill(0);
  for (const labels in now) {
    const counts = now[labels];
    if (counts === undefined || typeof counts === 'number') continue;
    const earlier = before[labels];
    // The sum of what was observed stands last: nothing came where it is the same, as with most of them in any second.
    if (earlier !== undefined && typeof earlier !== 'number' && earlier.at(-1) === counts.at(-1)) continue;
    const since = earlier === undefined || typeof earlier === 'number' ? [] : earlier;
    if (hasFallen(counts, since)) continue;
    for (let at = 0; at < bucketCount; at += 1) sum[at] = (sum[at] ?? 0) + (counts[at] ?? 0) - (since[at] ?? 0);
  }
  return sum;
}

function hasFallen(now: readonly number[], before: readonly number[]): boolean {
  for (let at = 0; at < now.length - 1; at += 1) if ((now[at] ?? 0) < (before[at] ?? 0)) return true;
  return false;
}

export function addBuckets(all: readonly Buckets[]): number[] {
  const sum: number[] = [];
  for (const buckets of all) for (const [at, count] of buckets.entries()) sum[at] = (sum[at] ?? 0) + count;
  return sum;
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** In milliseconds, to a tenth, from bounds in seconds. Undefined where nothing was counted. */
export function toPercentiles(buckets: Buckets, boundsS: readonly number[]): Percentiles | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return undefined;
  const at = (quantile: number): number => Math.round(quantileOf(buckets, boundsS, total * quantile) * 10_000) / 10;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** As if what is in a bucket were spread evenly over it. What is over the last bound is given as that bound: it is at least so much. */
function quantileOf(buckets: Buckets, boundsS: readonly number[], rank: number): number {
  let below = 0;
  for (const [at, count] of buckets.entries()) {
    if (count > 0 && below + count >= rank) {
      const lower = at === 0 ? 0 : (boundsS[at - 1] ?? 0);
      const upper = boundsS[at];
      return upper === undefined ? lower : lower + ((upper - lower) * (rank - below)) / count;
    }
    below += count;
  }
  return boundsS.at(-1) ?? 0;
}
