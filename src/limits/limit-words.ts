/** Limits in words: which one is reached, and what to do about it. */

import { type Holder, type Rate, rateWindowMs } from '../core/caps.ts';

/** Which limit is in the way. */
export interface Obstacle {
  readonly holder: Holder;
  /** `at once`: exchanges at a time. */
  readonly rate: Rate | 'at once';
  /** What may be taken here; less than the limit while each node has but its share. */
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

/**
 * What a client is told: never longer than the window of the limit itself, though the last bucket of it may count for a moment longer. Who
 * comes back within that moment is told again, and soon let in.
 */
export function retryAfterSOf({ rate, retryAfterMs }: Obstacle): number {
  const seconds = toWholeSeconds(retryAfterMs);
  return rate === 'at once' ? seconds : Math.min(seconds, rateWindowMs[rate.window] / 1_000);
}

/** Rounded up: whoever waits so long has waited long enough. */
function toWholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
