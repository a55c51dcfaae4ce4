/** Picks one of several by weight, by how busy they are, or by how fast they have been. */

import type { Balance } from '../core/snapshot.ts';
import type { Option } from './health/target-health.ts';

/** The index of the one to call; there is at least one. */
export function pick(options: readonly Option[], balance: Balance, random: () => number, nowMs: number): number {
  if (options.length === 1) return 0;
  if (balance === 'fastest') return fastest(options, nowMs);
  const first = pickByWeight(options, random);
  if (balance === 'weighted') return first;
  // The better of two: the best of all would draw everybody at the same moment.
  const second = pickByWeight(options, random, first);
  return busyness(options[first]) <= busyness(options[second]) ? first : second;
}

function busyness(option: Option | undefined): number {
  return option === undefined ? Number.POSITIVE_INFINITY : (option.view.health.inFlight + 1) / option.weight;
}

/** Calls under way count as well: who was the fastest is not fast any more once everybody is there. */
function fastest(options: readonly Option[], nowMs: number): number {
  let best = 0;
  let leastCost = Number.POSITIVE_INFINITY;
  for (const [index, { view }] of options.entries()) {
    const { latency, inFlight } = view.health;
    const cost = (latency.movingMs(nowMs) + 1) * (inFlight + 1);
    if (cost >= leastCost) continue;
    best = index;
    leastCost = cost;
  }
  return best;
}

/** At random, each by its share; `except` is left out. */
export function pickByWeight(all: readonly { readonly weight: number }[], random: () => number, except = -1): number {
  let sum = 0;
  for (let i = 0; i < all.length; i += 1) if (i !== except) sum += all[i]?.weight ?? 0;
  let left = random() * sum;
  let last = 0;
  for (let i = 0; i < all.length; i += 1) {
    const weight = all[i]?.weight ?? 0;
    if (i === except || weight === 0) continue;
    last = i;
    left -= weight;
    if (left < 0) return i;
  }
  return last;
}
