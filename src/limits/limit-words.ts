/** Texts of limits: error messages with advice, and the `x-ratelimit-*` headers. */

import { type Holder, type Measure, measures, type Rate, rateWindowMs } from '../core/caps.ts';
import type { PlannedRate } from './counters.ts';

export interface Obstacle {
  readonly holder: Holder;
  /** `at once`: the concurrency limit. */
  readonly rate: Rate | 'at once';
  /** The effective limit; less than the configured one while each node has only its share. */
  readonly most: number;
  readonly asked: number;
  readonly retryAfterMs: number;
  readonly isForever: boolean;
}

/** 60 requests a minute of the key "dev" */
export function inWords({ holder, rate, most }: Obstacle): string {
  const whole = rate === 'at once' ? holder.caps.concurrency : rate.most;
  const what = rate === 'at once' ? 'requests at a time' : `${rate.measure} a ${rate.window}`;
  const share = whole === undefined || whole === most ? '' : ` (${most} for now)`;
  return `${whole} ${whole === 1 ? what.replace('s ', ' ') : what} of the ${holder.kind} ${JSON.stringify(holder.id)}${share}`;
}

export function messageFor(obstacle: Obstacle): string {
  const limit = inWords(obstacle);
  const { rate, most, asked, isForever } = obstacle;
  if (isForever) {
    if (most === 0 || rate === 'at once') {
      return `The limit of ${limit} lets nothing through; ask the operator to raise it.`;
    }
    const about = rate.measure === 'tokens' ? 'about ' : '';
    return `This request asks for ${about}${asked} ${rate.measure} at once, more than the limit of ${limit} ever allows; split it into smaller requests.`;
  }
  if (rate === 'at once') return `The limit of ${limit} is reached; try again when one of them has ended.`;
  return `The limit of ${limit} is reached; try again in ${retryAfterSOf(obstacle)} s.`;
}

/** Never longer than the limit's window, although its last bucket may count a moment longer: a client then gets another short one. */
export function retryAfterSOf({ rate, retryAfterMs }: Obstacle): number {
  const seconds = toWholeSeconds(retryAfterMs);
  return rate === 'at once' ? seconds : Math.min(seconds, rateWindowMs[rate.window] / 1_000);
}

/** Rounded up, so that a client which waits so long does not come early. */
function toWholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}

export interface RateState {
  /** The effective limit of its window; less than the configured one while each node has only its share. */
  readonly most: number;
  readonly total: number;
  /** Until all of it is available again. */
  readonly resetAfterMs: number;
}

const resetNames: Readonly<Record<Measure, string>> = {
  requests: '\r\nx-ratelimit-reset-requests: ',
  tokens: '\r\nx-ratelimit-reset-tokens: ',
  items: '\r\nx-ratelimit-reset-items: ',
};

/** The limit, and the name of what remains; kept for the whole limit, and written anew for a share of it. */
function beginningOf(planned: PlannedRate, most: number): string {
  const { rate } = planned;
  if (most === rate.most && planned.beginning !== undefined) return planned.beginning;
  const beginning = `x-ratelimit-limit-${rate.measure}: ${most}\r\nx-ratelimit-remaining-${rate.measure}: `;
  if (most === rate.most) planned.beginning = beginning;
  return beginning;
}

/** Lines of a head; `states` are those of the rates. */
export function toRateLines(rates: readonly PlannedRate[], states: readonly RateState[]): string {
  let lines = '';
  for (const measure of measures) {
    let shown: PlannedRate | undefined;
    let tightest: RateState | undefined;
    for (let index = 0; index < rates.length; index += 1) {
      const state = states[index];
      if (rates[index]?.rate.measure !== measure || state === undefined || !isTighter(state, tightest)) continue;
      shown = rates[index];
      tightest = state;
    }
    if (shown === undefined || tightest === undefined) continue;
    const { most, total, resetAfterMs } = tightest;
    const left = Math.max(0, most - total);
    lines += `${beginningOf(shown, most)}${left}${resetNames[measure]}${toSpan(resetAfterMs)}\r\n`;
  }
  return lines;
}

function isTighter(state: RateState, than: RateState | undefined): boolean {
  if (than === undefined) return true;
  const difference = partLeft(state) - partLeft(than);
  return difference < 0 || (difference === 0 && state.most < than.most);
}

function partLeft({ most, total }: RateState): number {
  return most === 0 ? 0 : Math.max(0, most - total) / most;
}

/** Durations as OpenAI writes them: `120ms`, `1s`, `6m0s`, `23h59m59s`; whole seconds are rounded up. */
export function toSpan(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < 1_000) return whole === 0 ? '0s' : `${whole}ms`;
  const seconds = Math.ceil(whole / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  const hours = Math.floor(minutes / 60);
  return `${hours === 0 ? '' : `${hours}h`}${minutes % 60}m${seconds % 60}s`;
}
