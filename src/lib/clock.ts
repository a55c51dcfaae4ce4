/** Defines the two clocks that code may read: wall-clock time, which may jump, and monotonic time. */

import { performance } from 'node:perf_hooks';

export interface Clock {
  /** Wall-clock time in milliseconds since the epoch: for people and other machines. */
  nowMs(): number;
  /** Monotonic time in milliseconds since some moment of this process: for ages and durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
