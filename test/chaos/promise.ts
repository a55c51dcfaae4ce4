/** A promise of the gateway under faults and attacks, and its test setup: counts and bytes are asserted, times are printed. */

import type { TestContext } from 'node:test';

/** `short` takes seconds and runs with the tests; `long` is the whole promise. */
export type Scale = 'short' | 'long';

/** One figure beside its bar. */
export interface Figure {
  readonly name: string;
  /** In words: `0`, `at most 50 ms`. */
  readonly bar: string;
  readonly measured: string;
  readonly met: boolean;
  /** Fails the run. Times depend on the machine and its load: a missed time bar is only reported. */
  readonly broken?: boolean;
}

export interface PromiseUnderTest {
  /** Its number in docs/reference/reliability-figures.md. */
  readonly no: number;
  /** What is done to the gateway, in a few words. */
  readonly title: string;
  /** Throws where it cannot be measured at all. What it starts ends with `t`. */
  run(rig: ChaosRig): Promise<readonly Figure[]>;
}

export interface ChaosRig {
  readonly t: TestContext;
  readonly scale: Scale;
  /** Everything random comes from here; it is printed with the figures, and `--seed` repeats it. */
  readonly seed: number;
  /** Shows that long work goes on; one line, replaced by the next. */
  progress(line: string): void;
}

export function definePromise(promise: PromiseUnderTest): PromiseUnderTest {
  return Object.freeze(promise);
}

/** A figure that is a count: the bar is a number that it may not exceed. */
export function atMost(name: string, count: number, limit: number, unit = ''): Figure {
  const suffix = unit === '' ? '' : ` ${unit}`;
  return {
    name,
    bar: limit === 0 ? `0${suffix}` : `at most ${limit}${suffix}`,
    measured: `${count}${suffix}`,
    met: count <= limit,
    broken: count > limit,
  };
}

/** A figure that is a time: printed beside its bar, and never a failure. */
export function within(name: string, measuredMs: number, barMs: number): Figure {
  return {
    name,
    bar: `at most ${barMs} ms`,
    measured: `${measuredMs < 10 ? measuredMs.toFixed(1) : Math.round(measuredMs)} ms`,
    met: measuredMs <= barMs,
  };
}
