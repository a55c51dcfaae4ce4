/** What the requests of a batch ask for together. */

import type { Asking } from '../../core/accounting/price.ts';

export function addAsking(sum: Asking, one: Asking): Asking {
  const unbounded = sum.unbounded ?? one.unbounded;
  return {
    items: sum.items + one.items,
    images: sum.images + one.images,
    likelyInputTokens: sum.likelyInputTokens + one.likelyInputTokens,
    mostInputTokens: sum.mostInputTokens + one.mostInputTokens,
    mostOutputTokens: sum.mostOutputTokens + one.mostOutputTokens,
    mostSearchUnits: sum.mostSearchUnits + one.mostSearchUnits,
    isStream: false,
    ...(unbounded !== undefined && { unbounded }),
  };
}

/** That of one of its lines, as far as it is known when it was answered: `no` of all, from 0, so that all together have what the batch has. */
export function askingOfLine(whole: Asking, lines: number, no: number, path: string): Asking {
  const share = (all: number): number => Math.floor(((no + 1) * all) / lines) - Math.floor((no * all) / lines);
  return {
    items: share(whole.items),
    images: share(whole.images),
    likelyInputTokens: share(whole.likelyInputTokens),
    mostInputTokens: share(whole.mostInputTokens),
    mostOutputTokens: share(whole.mostOutputTokens),
    mostSearchUnits: share(whole.mostSearchUnits),
    isStream: false,
    batch: { path, lines: 1 },
  };
}
