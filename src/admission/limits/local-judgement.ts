/** Whether what is asked for fits under what this process has counted. */

import type { Plan, PlannedRate } from './counters.ts';
import type { Amounts, Refused } from './port.ts';
import { type RateState, toRateHeaders } from './rate-headers.ts';
import { inWords, messageFor, type Obstacle } from './words.ts';

/** When an exchange of others ends cannot be known. */
const crowdedRetryMs = 1_000;
/** When all nodes will count together again cannot either. */
const sharedRetryMs = 5_000;

/** What one of so many nodes may let through; always something, where the limit allows anything at all. */
function shareOf(most: number, nodes: number): number {
  return most === 0 ? 0 : Math.max(1, Math.floor(most / nodes));
}

/** The limit that is in the way for the longest time; undefined where none is. */
export function obstacleTo(plan: Plan, amounts: Amounts, nowMs: number, nodes: number): Obstacle | undefined {
  let worst: Obstacle | undefined;
  for (const planned of plan.rates) {
    const { rate, window } = planned;
    const asked = amounts[rate.measure];
    const most = shareOf(rate.most, nodes);
    const over = window.totalAt(nowMs) + asked - most;
    if (over <= 0) continue;
    const obstacle = rateObstacle(planned, asked, most, over, nowMs);
    if (worst === undefined || isLonger(obstacle, worst)) worst = obstacle;
  }
  for (const { holder, most: whole, count } of plan.crowds) {
    const most = shareOf(whole, nodes);
    if (count.held < most) continue;
    const obstacle = crowdObstacle(holder, most);
    if (worst === undefined || isLonger(obstacle, worst)) worst = obstacle;
  }
  return worst;
}

function rateObstacle(
  { holder, rate, window }: PlannedRate,
  asked: number,
  most: number,
  over: number,
  nowMs: number,
): Obstacle {
  const isForever = asked > rate.most;
  const retryAfterMs = asked > most ? sharedRetryMs : window.freeAfterMs(nowMs, over);
  return { holder, rate, most, asked, isForever, retryAfterMs };
}

export function crowdObstacle(holder: Obstacle['holder'], most: number): Obstacle {
  return { holder, rate: 'at once', most, asked: 1, isForever: most === 0, retryAfterMs: crowdedRetryMs };
}

function isLonger(one: Obstacle, than: Obstacle): boolean {
  if (one.isForever !== than.isForever) return one.isForever;
  return one.retryAfterMs > than.retryAfterMs;
}

export function refusalOf(obstacle: Obstacle, headers: () => string[]): Refused {
  return {
    kind: 'refused',
    holder: obstacle.holder.kind,
    measure: obstacle.rate === 'at once' ? 'concurrency' : obstacle.rate.measure,
    limit: inWords(obstacle),
    retryAfterMs: obstacle.retryAfterMs,
    isForever: obstacle.isForever,
    message: messageFor(obstacle),
    headers,
  };
}

export function localRateHeaders(plan: Plan, nowMs: number, nodes: number): string[] {
  const states = plan.rates.map(({ rate, window }): RateState => {
    return {
      most: shareOf(rate.most, nodes),
      total: window.totalAt(nowMs),
      resetAfterMs: window.resetAfterMs(nowMs),
    };
  });
  return toRateHeaders(plan.rates, states);
}
