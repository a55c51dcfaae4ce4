/** Splits the cost of a call that served several requests among them. */

import type { Usage } from '../../core/accounting/usage.ts';
import { Exchange } from '../../core/exchange.ts';

interface Sharer {
  readonly items: number;
  readonly weight: number;
}

export function sharesOf(part: Exchange, among: readonly Sharer[]): Exchange[] {
  const usages = sharesOfUsage(part.usage, among);
  return among.map(({ items }, index) => shareOf(part, items, usages[index] ?? null, among.length));
}

/** The exchange for one request's share of a joint call, or for one of several calls of a request. */
export function shareOf(whole: Exchange, items: number, usage: Usage | null, sharers: number): Exchange {
  const { estimate, route, key, target, credential, outcome } = whole;
  const share = new Exchange(whole.id, undefined, whole.snapshot, whole.startedAtMs, whole.startedMs);
  Object.assign(share, { route, key, target, credential, outcome, usage });
  share.owed = whole.owed?.map((call) => shareOf(call, items, null, sharers));
  const ofTokens = (tokens: number): number => Math.ceil((tokens * items) / Math.max(1, estimate?.items ?? items));
  share.estimate = estimate && {
    ...estimate,
    items,
    likelyInputTokens: ofTokens(estimate.likelyInputTokens),
    mostSearchUnits: Math.ceil(estimate.mostSearchUnits / sharers),
  };
  return share;
}

function sharesOfUsage(usage: Usage | null, among: readonly Sharer[]): (Usage | null)[] {
  if (usage === null) return among.map(() => null);
  const weights = among.map(({ weight }) => weight);
  const prompt = split(usage.promptTokens, weights);
  const total = split(usage.totalTokens, weights);
  const units = split(usage.searchUnits, weights);
  const cached = split(usage.cachedTokens ?? null, weights);
  return among.map((_, index) => ({
    promptTokens: prompt[index] ?? null,
    completionTokens: usage.completionTokens,
    totalTokens: total[index] ?? null,
    searchUnits: units[index] ?? null,
    cachedTokens: cached[index] ?? null,
  }));
}

/** Splits a count into whole numbers that add up to it: remainders go to the largest fractions, earlier ones first. */
function split(count: number | null, weights: readonly number[]): (number | null)[] {
  if (count === null) return weights.map(() => null);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.map((weight) => (total === 0 ? 0 : (count * weight) / total));
  const shares = exact.map(Math.floor);
  const left = Math.round(count - shares.reduce((sum, one) => sum + one, 0));
  const byRest = exact
    .map((share, index) => ({ index, rest: share - Math.floor(share) }))
    .toSorted((a, b) => b.rest - a.rest || a.index - b.index);
  for (const { index } of byRest.slice(0, left)) shares[index] = (shares[index] ?? 0) + 1;
  return shares;
}
