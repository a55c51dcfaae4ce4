/** Decides by length and bytes alone, without reading the items, whether every target takes a list in one call. */

import type { Candidate, RoutePlan } from '../core/dispatch.ts';
import { limitsOf, listOperations, tightest } from '../core/lists.ts';
import type { Plan } from './planned-call.ts';

/** Limits by plan; for a model pattern, those of the last requested name. */
const quickLimits = new WeakMap<RoutePlan, QuickLimits>();

/** Limits that fit every possible target, so that the list itself need not be read. */
interface QuickLimits {
  readonly matched: string;
  readonly items: number;
  readonly bodyBytes: number;
  /** No list fits without a look at its items, as the model caches items, removes duplicates or coalesces requests. */
  readonly isNone: boolean;
}

export const none = {
  items: Number.POSITIVE_INFINITY,
  bodyBytes: Number.POSITIVE_INFINITY,
};
/** Smallest number of bytes per token; tokens are rarely shorter. */
const fewestBytesPerToken = 3;

type Listed = Pick<Plan, 'exchange' | 'question' | 'route' | 'resolved' | 'routePlan'>;

export function quickLimitsOf({ exchange, routePlan, resolved: { matched } }: Listed): QuickLimits {
  const known = quickLimits.get(routePlan);
  if (known?.matched === matched) return known;
  const operation = exchange.route?.operation;
  const isList = operation !== undefined && listOperations.has(operation);
  const quick = isList ? toQuick(routePlan.tiers.flat(), matched) : none;
  const limits = { ...quick, matched, isNone: isList && isAlwaysTaken(routePlan) };
  quickLimits.set(routePlan, limits);
  return limits;
}

const isAlwaysTaken = ({ model: { cache, dedupes, coalesce } }: RoutePlan): boolean =>
  cache !== undefined || dedupes === true || coalesce !== undefined;

/** Whether some of the list's vectors may have to be shortened, which only its items show. */
const mayBeCut = ({ model }: RoutePlan, { operation }: Plan['route']): boolean =>
  model.matryoshka === true && operation === 'embeddings';

export function toQuick(candidates: readonly Candidate[], matched: string): Pick<QuickLimits, 'items' | 'bodyBytes'> {
  const { items, bytes, tokens } = tightest(candidates.map((one) => limitsOf(one, matched)));
  return { items, bodyBytes: Math.min(bytes, tokens * fewestBytesPerToken) };
}

export function fitsOneCall(plan: Listed): boolean {
  const { items, bodyBytes, isNone } = quickLimitsOf(plan);
  const count = plan.exchange.estimate?.items ?? 1;
  const isTooMany = count > 1 && count > items;
  return !isNone && !mayBeCut(plan.routePlan, plan.route) && !isTooMany && bytesToRead(plan, count) <= bodyBytes;
}

/** Bytes that the upstream processes: a reranker processes the query again with each document. */
function bytesToRead({ question: { body, scan }, route }: Listed, items: number): number {
  const query = route.operation === 'rerank' ? scan.fields.get('query') : undefined;
  return body.length + (query === undefined ? 0 : items * (query.end - query.start));
}
