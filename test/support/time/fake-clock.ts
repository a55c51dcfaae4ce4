/** A clock that advances on request only. */

import type { Clock } from '../../../src/lib/clock.ts';

export interface FakeClock extends Clock {
  advance(ms: number): void;
}

export function createFakeClock(startMs = Date.UTC(2027, 0, 1)): FakeClock {
  let passedMs = 0;
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    advance(ms) {
      passedMs += ms;
    },
  };
}
