/** Writes the texts of limits: error messages with advice, and the `x-ratelimit-*` headers. */

import { type Holder, type Measure, measures, type Rate, rateWindowMs } from '../core/caps.ts';
import type { PlannedRate } from './counters.ts';

export interface Obstacle {
  readonly holder: Holder;
  /** The rate that is exceeded, or `at once` for the concurrency limit. */
  readonly rate: Rate | 'at once';
  /** The limit in effect; less than the configured one while each node has only its share. */
  readonly most: number;
  readonly asked: number;
  readonly retryAfterMs: number;
  readonly isForever: boolean;
}

/** Describes a limit, such as: 60 requests a minute of the key "dev". */
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

/** The seconds for Retry-After: at most the limit's window, although the last bucket may count a moment longer; a client then waits once more. */
export function retryAfterSOf({ rate, retryAfterMs }: Obstacle): number {
  const seconds = toWholeSeconds(retryAfterMs);
  return rate === 'at once' ? seconds : Math.min(seconds, rateWindowMs[rate.window] / 1_000);
}

/** Rounds up to seconds, so that a client which waits so long does not come early. */
function toWholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}

/** Reads counts of rates, as counted locally or by the shared counter. */
export interface RateCounts {
  totalOf(planned: PlannedRate, index: number): number;
  resetAfterMsOf(planned: PlannedRate, index: number): number;
}

/** The share of a limit that one of several nodes may use; at least 1, unless the limit is 0. */
export function shareOf(most: number, nodes: number): number {
  return most === 0 ? 0 : Math.max(1, Math.floor(most / nodes));
}

const resetNames: Readonly<Record<Measure, string>> = {
  requests: '\r\nx-ratelimit-reset-requests: ',
  tokens: '\r\nx-ratelimit-reset-tokens: ',
  items: '\r\nx-ratelimit-reset-items: ',
};

/** The beginning of the header lines: the limit, and the name of the remaining amount. Cached for the whole limit, written anew for a share. */
function beginningOf(planned: PlannedRate, most: number): string {
  const { rate } = planned;
  if (most === rate.most && planned.beginning !== undefined) return planned.beginning;
  const beginning = `x-ratelimit-limit-${rate.measure}: ${most}\r\nx-ratelimit-remaining-${rate.measure}: `;
  if (most === rate.most) planned.beginning = beginning;
  return beginning;
}

/** Header lines: for each measure, the limit with the smallest remaining share; of equal ones the smaller limit. */
export function toRateLines(rates: readonly PlannedRate[], nodes: number, counts: RateCounts): string {
  let lines = '';
  for (const measure of measures) {
    let shown = -1;
    let shownMost = 0;
    let shownLeft = 0;
    let leastPart = Number.POSITIVE_INFINITY;
    for (let index = 0; index < rates.length; index += 1) {
      const planned = rates[index];
      if (planned?.rate.measure !== measure) continue;
      const most = shareOf(planned.rate.most, nodes);
      const left = Math.max(0, most - counts.totalOf(planned, index));
      const part = most === 0 ? 0 : left / most;
      if (part > leastPart || (part === leastPart && most >= shownMost)) continue;
      shown = index;
      shownMost = most;
      shownLeft = left;
      leastPart = part;
    }
    const planned = rates[shown];
    if (planned === undefined) continue;
    const resetAfterMs = counts.resetAfterMsOf(planned, shown);
    lines += `${beginningOf(planned, shownMost)}${shownLeft}${resetNames[measure]}${toSpan(resetAfterMs)}\r\n`;
  }
  return lines;
}

/** Formats a duration as OpenAI does: `120ms`, `1s`, `6m0s`, `23h59m59s`; whole seconds are rounded up. */
export function toSpan(ms: number): string {
  const whole = Math.ceil(ms);
  if (whole < 1_000) return whole === 0 ? '0s' : `${whole}ms`;
  const seconds = Math.ceil(whole / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds}s`;
  const hours = Math.floor(minutes / 60);
  return `${hours === 0 ? '' : `${hours}h`}${minutes % 60}m${seconds % 60}s`;
}
