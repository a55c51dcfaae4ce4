/**
 * Caches answers for a few seconds, so that simultaneous requests for the same share one. An answer that took long is kept longer,
 * so that a page which asks again and again costs a large or busy gateway little. Failures are not cached.
 */

import type { Clock } from '../lib/clock.ts';

interface Kept {
  readonly atMs: number;
  forMs: number;
  readonly answer: Promise<unknown>;
}

const mostKept = 100;
/** A slow answer is kept this many times as long as it took, so that it takes at most that share of the time. */
const timesLonger = 20;
const longestMs = 10_000;

interface Gateway {
  readonly series: object;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Creates a function that returns the gateway's cached answer of this name, or asks for one and caches it for `keptMs` or longer. */
export function createRecently(keptMs: number) {
  const ofGateways = new WeakMap<object, Map<string, Kept>>();
  return <T>({ series, clock }: Gateway, name: string, ask: () => Promise<T>): Promise<T> => {
    const nowMs = clock.monotonicMs();
    const kept = ofGateways.get(series) ?? new Map<string, Kept>();
    ofGateways.set(series, kept);
    const found = kept.get(name);
    if (found !== undefined && nowMs - found.atMs < found.forMs) return found.answer as Promise<T>;
    for (const [other, { atMs, forMs }] of kept) if (nowMs - atMs >= forMs || kept.size >= mostKept) kept.delete(other);
    const answer = ask();
    const one = { atMs: nowMs, forMs: keptMs, answer };
    kept.set(name, one);
    answer.then(
      () => {
        const tookMs = clock.monotonicMs() - nowMs;
        one.forMs = Math.max(keptMs, Math.min(longestMs, timesLonger * tookMs));
      },
      () => kept.delete(name),
    );
    return answer;
  };
}
