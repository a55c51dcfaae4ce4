/** Picks one of several by weight, by how busy they are, or by how fast they have been. */

import type { Balance } from '../core/snapshot.ts';
import type { TargetView } from './standing.ts';

/** The index of the one to call. `views` and `weights` go together, and neither is empty. */
export function pick(
  views: readonly TargetView[],
  weights: readonly number[],
  balance: Balance,
  random: () => number,
  nowMs: number,
): number {
  if (views.length === 1) return 0;
  if (balance === 'fastest') return fastest(views, nowMs);
  const first = pickByWeight(weights, random);
  if (balance === 'weighted') return first;
  // The better of two: the best of all would draw everybody at the same moment.
  const second = pickByWeight(weights, random, first);
  return busyness(views[first], weights[first]) <= busyness(views[second], weights[second]) ? first : second;
}

function busyness(view: TargetView | undefined, weight = 1): number {
  return view === undefined ? Number.POSITIVE_INFINITY : (view.standing.inFlight + 1) / weight;
}

/** Calls under way count as well: who was the fastest is not fast any more once everybody is there. */
function fastest(views: readonly TargetView[], nowMs: number): number {
  let best = 0;
  let leastCost = Number.POSITIVE_INFINITY;
  for (const [index, { standing }] of views.entries()) {
    const cost = (standing.latency.movingMs(nowMs) + 1) * (standing.inFlight + 1);
    if (cost >= leastCost) continue;
    best = index;
    leastCost = cost;
  }
  return best;
}

/** At random, each by its share; `except` is left out. */
export function pickByWeight(weights: readonly number[], random: () => number, except = -1): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i += 1) if (i !== except) sum += weights[i] ?? 0;
  let left = random() * sum;
  let last = 0;
  for (let i = 0; i < weights.length; i += 1) {
    if (i === except) continue;
    last = i;
    left -= weights[i] ?? 0;
    if (left < 0) return i;
  }
  return last;
}
