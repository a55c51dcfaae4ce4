/** Limits in words: which one is reached, and what to do about it. */

import type { Holder, Rate } from '../../core/caps.ts';

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
  const { rate, most, asked, isForever, retryAfterMs } = obstacle;
  if (isForever) {
    if (most === 0 || rate === 'at once') {
      return `The limit of ${limit} lets nothing through; ask the operator to raise it.`;
    }
    const about = rate.measure === 'tokens' ? 'about ' : '';
    return `This request asks for ${about}${asked} ${rate.measure} at once, more than the limit of ${limit} ever allows; split it into smaller requests.`;
  }
  if (rate === 'at once') return `The limit of ${limit} is reached; try again when one of them has ended.`;
  return `The limit of ${limit} is reached; try again in ${toWholeSeconds(retryAfterMs)} s.`;
}

/** Rounded up: whoever waits so long has waited long enough. */
export function toWholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
