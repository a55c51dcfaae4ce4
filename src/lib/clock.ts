/** Two clocks: wall-clock time, which may jump, and monotonic time. */

import { performance } from 'node:perf_hooks';

export interface Clock {
  /** Milliseconds since the epoch: for people and other machines. */
  nowMs(): number;
  /** Milliseconds since some moment of this process: for ages and durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
