/** A cache of a few seconds, so that simultaneous requests for the same share one answer. Failures are not cached. */

import type { Clock } from '../lib/clock.ts';

interface Kept {
  readonly atMs: number;
  readonly answer: Promise<unknown>;
}

const mostKept = 100;

interface Gateway {
  readonly series: object;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** One for each gateway. A name stands for one kind of answer. */
export function createRecently(keptMs: number) {
  const ofGateways = new WeakMap<object, Map<string, Kept>>();
  return <T>({ series, clock }: Gateway, name: string, ask: () => Promise<T>): Promise<T> => {
    const nowMs = clock.monotonicMs();
    const kept = ofGateways.get(series) ?? new Map<string, Kept>();
    ofGateways.set(series, kept);
    const found = kept.get(name);
    if (found !== undefined && nowMs - found.atMs < keptMs) return found.answer as Promise<T>;
    for (const [other, { atMs }] of kept) if (nowMs - atMs >= keptMs || kept.size >= mostKept) kept.delete(other);
    const answer = ask();
    kept.set(name, { atMs: nowMs, answer });
    answer.catch(() => kept.delete(name));
    return answer;
  };
}
