/** What an answer would have been billed by, of items that nobody was asked for. */

import { Exchange } from '../../core/exchange.ts';

const tokenPaths = [
  'usage.prompt_tokens',
  'usage.total_tokens',
  'meta.billed_units.input_tokens',
  'meta.tokens.input_tokens',
];
const unitPaths = ['meta.billed_units.search_units', 'usage.search_units'];

/** Undefined where everything was asked for. `counts`: what each item counted when somebody was. */
export function savedIn(whole: Exchange, counts: readonly ReadonlyMap<string, string>[]): Exchange | undefined {
  const { asking } = whole;
  if (counts.length === 0 || asking === undefined) return undefined;
  const saved = new Exchange(whole.id, undefined, whole.snapshot, whole.startedAtMs, whole.startedMs);
  saved.route = whole.route;
  saved.key = whole.key;
  saved.target = whole.target;
  const tokens = sumAt(tokenPaths, counts);
  const units = sumAt(unitPaths, counts);
  saved.asking = {
    ...asking,
    items: counts.length,
    images: 0,
    likelyInputTokens: tokens ?? 0,
    mostSearchUnits: units ?? 0,
  };
  saved.usage = {
    promptTokens: tokens ?? null,
    completionTokens: null,
    totalTokens: tokens ?? null,
    searchUnits: units ?? null,
  };
  return saved;
}

/** By the first of these that is counted at all. */
function sumAt(paths: readonly string[], counts: readonly ReadonlyMap<string, string>[]): number | undefined {
  const path = paths.find((one) => counts.some((each) => each.has(one)));
  if (path === undefined) return undefined;
  return Math.round(counts.reduce((sum, each) => sum + Number(each.get(path) ?? 0), 0));
}
