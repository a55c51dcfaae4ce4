/** Whether a list fits one call to any of its targets, judged without a look at its items. */

import type { Candidate, RoutePlan } from '../core/dispatch.ts';
import { limitsOf, listOperations, tightest } from '../core/lists.ts';
import type { Plan } from './planned-call.ts';

/** For a pattern, of the last requested name. */
const quickLimits = new WeakMap<RoutePlan, QuickLimits>();

/** Limits that fit every possible target: checked without a look at the list. */
interface QuickLimits {
  readonly matched: string;
  readonly items: number;
  readonly bodyBytes: number;
  /** Nothing fits: items may be in the cache. */
  readonly isNone: boolean;
}

export const none = {
  items: Number.POSITIVE_INFINITY,
  bodyBytes: Number.POSITIVE_INFINITY,
};
/** A token rarely has fewer bytes. */
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

/** Whether the list may have to be split, which its items decide. */
const mayBeCut = ({ model }: RoutePlan, { operation }: Plan['route']): boolean =>
  model.matryoshka === true && operation === 'embeddings';

export function toQuick(candidates: readonly Candidate[], matched: string): Pick<QuickLimits, 'items' | 'bodyBytes'> {
  const { items, bytes, tokens } = tightest(candidates.map((one) => limitsOf(one, matched)));
  return { items, bodyBytes: Math.min(bytes, tokens * fewestBytesPerToken) };
}

/** Whether every possible target takes the whole list. */
export function fitsOneCall(plan: Listed): boolean {
  const { items, bodyBytes, isNone } = quickLimitsOf(plan);
  const count = plan.exchange.estimate?.items ?? 1;
  const isTooMany = count > 1 && count > items;
  return !isNone && !mayBeCut(plan.routePlan, plan.route) && !isTooMany && bytesToRead(plan, count) <= bodyBytes;
}

/** A query is processed again with each document. */
function bytesToRead({ question: { body, scan }, route }: Listed, items: number): number {
  const query = route.operation === 'rerank' ? scan.fields.get('query') : undefined;
  return body.length + (query === undefined ? 0 : items * (query.end - query.start));
}
