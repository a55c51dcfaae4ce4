/** Price factors of a service for its tokens (service tier, speed, region), and the cost of tool calls. */

import {
  type HostedTools,
  oneFactor,
  type Price,
  type RequestEstimate,
  type Terms,
  termNames,
} from '../core/accounting/price.ts';
import type { Units } from '../core/accounting/units.ts';
import type { Exchange } from '../core/exchange.ts';

/** By the reported terms, else by the requested ones. In millionths. */
export const factorOf = (price: Price, estimate: RequestEstimate, said: Units | undefined): number =>
  productOf(price, estimate, (factors, asked, name) => factorAt(factors, said?.[name] ?? asked) ?? oneFactor);

/** The highest factor that the request may get: the service may choose what is left open, and may serve a request by the standard terms. */
export const dearestFactor = (price: Price, estimate: RequestEstimate): number => productOf(price, estimate, dearestOf);

type FactorOfTerm = (
  factors: Readonly<Record<string, number>> | undefined,
  asked: string | undefined,
  name: keyof Terms,
) => number;

function productOf({ factors }: Price, { terms, batch }: RequestEstimate, of: FactorOfTerm): number {
  if (factors === undefined) return oneFactor;
  let product = oneFactor;
  for (const name of termNames) {
    // The batch discount is applied elsewhere.
    if (name === 'serviceTier' && batch !== undefined) continue;
    product = times(product, of(factors[name], terms?.[name], name));
  }
  return product;
}

/** Faster service is never given without a request. */
function dearestOf(
  factors: Readonly<Record<string, number>> = {},
  asked: string | undefined,
  name: keyof Terms,
): number {
  const isOpen = asked === undefined ? name !== 'speed' : leftOpen.has(asked);
  if (isOpen) return Math.max(oneFactor, ...Object.values(factors));
  return Math.max(oneFactor, factorAt(factors, asked) ?? oneFactor);
}

const leftOpen: ReadonlySet<string> = new Set(['auto', 'scale']);
/** Terms that never cost more. */
const noDearer: ReadonlySet<string> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex', 'batch', 'scale', 'global', 'not_available'],
  ...['ON_DEMAND', 'ON_DEMAND_FLEX', 'PROVISIONED_THROUGHPUT', 'TRAFFIC_TYPE_UNSPECIFIED'],
]);

/** The field of a requested term without a price, although it may cost more. */
export function unpricedTerm({ factors }: Price, terms: Terms = {}): string | undefined {
  for (const name of termNames) {
    const word = terms[name];
    if (word === undefined || noDearer.has(word)) continue;
    if (factorAt(factors?.[name], word) === undefined) return termFields[name];
  }
  return undefined;
}

/** Field names in requests. */
const termFields: Readonly<Record<keyof Terms, string>> = {
  serviceTier: 'service_tier',
  speed: 'speed',
  inferenceGeo: 'inference_geo',
};

function factorAt(factors: Readonly<Record<string, number>> | undefined, word: string | undefined): number | undefined {
  return factors !== undefined && word !== undefined && Object.hasOwn(factors, word) ? factors[word] : undefined;
}

/** Rounded up to a millionth. */
const times = (one: number, other: number): number => {
  if (other === oneFactor) return one;
  return one === oneFactor ? other : Number((BigInt(one) * BigInt(other) + BigInt(oneFactor) - 1n) / BigInt(oneFactor));
};

/** Numbers of hosted tool calls by kind. */
type Calls = Readonly<Record<string, number>>;

/** As reported; where the report is missing, the upper bound. */
export function toolCallsOf({ usage, estimate, outcome }: Exchange): {
  readonly calls: Calls | undefined;
  readonly isGuessed: boolean;
} {
  const seen = usage?.units?.toolCalls;
  const tools = estimate?.tools;
  if (tools === undefined || (seen !== undefined && Object.keys(seen).length > 0))
    return { calls: seen, isGuessed: false };
  if (tools.areSure === true)
    return { calls: Object.fromEntries(tools.kinds.map((kind) => [kind, 1])), isGuessed: false };
  if (outcome === 'ok' || seen !== undefined) return { calls: undefined, isGuessed: false };
  return { calls: Object.fromEntries(tools.kinds.map((kind) => [kind, tools.most ?? 1])), isGuessed: true };
}

/** The cost of the counted calls, up to the upper bound. */
export function toolNanosOf(
  { tools = {} }: Price,
  calls: Calls,
  asked: HostedTools | undefined,
  isGuessed: boolean,
): number {
  if (isGuessed && asked !== undefined) return worstToolNanos({ tools }, asked);
  let sum = 0;
  for (const [kind, count] of Object.entries(calls)) sum += Math.min(count, mostCalls) * (tools[kind] ?? 0);
  return sum;
}

const mostCalls = 1_000_000;

/** Assumes that all calls are of the most expensive kind. */
export function worstToolNanos({ tools = {} }: Pick<Price, 'tools'>, { kinds, most = 1 }: HostedTools): number {
  let dearest = 0;
  for (const kind of kinds) dearest = Math.max(dearest, (tools[kind] ?? 0) + (tools[queryOf(kind)] ?? 0));
  return dearest * most;
}

const queryOf = (kind: string): string => `${kind}_query`;

/** The first requested kind without a price. */
export function unpricedTool({ tools = {} }: Price, { tools: asked }: RequestEstimate): string | undefined {
  return asked?.kinds.find((kind) => tools[kind] === undefined && tools[queryOf(kind)] === undefined);
}

/** Some calls have no price. */
export function isOffPriceList({ tools = {} }: Price, calls: Calls): boolean {
  return Object.keys(calls).some((kind) => {
    const ofAnswer = kind.endsWith('_query') ? kind.slice(0, -'_query'.length) : kind;
    return tools[kind] === undefined && tools[ofAnswer] === undefined && tools[queryOf(ofAnswer)] === undefined;
  });
}
