/** A cache of a few seconds, so that many who ask for the same wait for one answer. A failure is not kept. */

import type { Clock } from '../../lib/clock.ts';

interface Kept {
  readonly atMs: number;
  readonly answer: Promise<unknown>;
}

export type Recently = <T>(name: string, ask: () => Promise<T>) => Promise<T>;

const mostKept = 100;

export function createRecently(clock: Pick<Clock, 'monotonicMs'>, keptMs: number): Recently {
  const kept = new Map<string, Kept>();
  return <T>(name: string, ask: () => Promise<T>): Promise<T> => {
    const nowMs = clock.monotonicMs();
    const found = kept.get(name);
    // A name stands for one kind of answer.
    if (found !== undefined && nowMs - found.atMs < keptMs) return found.answer as Promise<T>;
    for (const [other, { atMs }] of kept) if (nowMs - atMs >= keptMs || kept.size >= mostKept) kept.delete(other);
    const answer = ask();
    kept.set(name, { atMs: nowMs, answer });
    answer.catch(() => kept.delete(name));
    return answer;
  };
}
