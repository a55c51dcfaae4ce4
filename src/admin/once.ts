/** Does what is asked for again with the same key once, and answers the same both times. In memory: for a caller that lost an answer. */

import type { Clock } from '../lib/clock.ts';

const keptMs = 10 * 60_000;
const mostKept = 1_000;

interface Done {
  readonly atMs: number;
  readonly response: Promise<Response>;
}

export function createOnce(clock: Pick<Clock, 'monotonicMs'>) {
  const done = new Map<string, Done>();

  function forgetOld(nowMs: number): void {
    for (const [key, { atMs }] of done) {
      if (nowMs - atMs < keptMs && done.size < mostKept) return;
      done.delete(key);
    }
  }

  return async (key: string, work: () => Promise<Response>): Promise<Response> => {
    const nowMs = clock.monotonicMs();
    forgetOld(nowMs);
    let found = done.get(key);
    if (found === undefined) {
      found = { atMs: nowMs, response: work() };
      done.set(key, found);
      // What failed may be tried again.
      found.response.catch(() => done.delete(key));
    }
    return (await found.response).clone();
  };
}
