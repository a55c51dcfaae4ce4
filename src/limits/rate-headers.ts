/** The `x-ratelimit-*` headers: for each measure the limit of which the smallest part is left. */

import { measures } from '../core/caps.ts';
import type { PlannedRate } from './counters.ts';

/** How a rate stands. */
export interface RateState {
  /** What may be taken within its window; less than the limit while each node has but its share. */
  readonly most: number;
  readonly total: number;
  /** Until all of it is free. */
  readonly resetAfterMs: number;
}

/** Names and values in turn; `states` are those of the rates. */
export function toRateHeaders(rates: readonly PlannedRate[], states: readonly RateState[]): string[] {
  const headers: string[] = [];
  for (const measure of measures) {
    let tightest: RateState | undefined;
    for (let index = 0; index < rates.length; index += 1) {
      const state = states[index];
      if (rates[index]?.rate.measure === measure && state !== undefined && isTighter(state, tightest)) tightest = state;
    }
    if (tightest === undefined) continue;
    headers.push(
      `x-ratelimit-limit-${measure}`,
      String(tightest.most),
      `x-ratelimit-remaining-${measure}`,
      String(Math.max(0, tightest.most - tightest.total)),
      `x-ratelimit-reset-${measure}`,
      toSpan(tightest.resetAfterMs),
    );
  }
  return headers;
}

function isTighter(state: RateState, than: RateState | undefined): boolean {
  if (than === undefined) return true;
  const difference = partLeft(state) - partLeft(than);
  return difference < 0 || (difference === 0 && state.most < than.most);
}

function partLeft({ most, total }: RateState): number {
  return most === 0 ? 0 : Math.max(0, most - total) / most;
}

/** As OpenAI writes spans: `120ms`, `1s`, `6m0s`, `23h59m59s`; whole seconds are rounded up. */
export function toSpan(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < 1_000) return whole === 0 ? '0s' : `${whole}ms`;
  const seconds = Math.ceil(whole / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  const hours = Math.floor(minutes / 60);
  return `${hours === 0 ? '' : `${hours}h`}${minutes % 60}m${seconds % 60}s`;
}
