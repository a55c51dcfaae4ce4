/** Computes price factors of a service for its tokens (by service tier, speed and region), and the cost of hosted tool calls. */

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

/** The price factor, in millionths, by the service terms that the answer reports, else by the requested ones. */
export const factorOf = (price: Price, estimate: RequestEstimate, said: Units | undefined): number =>
  productOf(price, estimate, (factors, asked, name) => factorAt(factors, said?.[name] ?? asked) ?? oneFactor);

/** The highest price factor that the request may get: the service chooses the terms left open, and may fall back to the standard terms. */
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

/** The highest factor for one term of a request. A service never gives faster speed to a request that does not ask for it. */
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
/** Values of service terms that never cost more than the standard. */
const noDearer: ReadonlySet<string> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex', 'batch', 'scale', 'global', 'not_available'],
  ...['ON_DEMAND', 'ON_DEMAND_FLEX', 'PROVISIONED_THROUGHPUT', 'TRAFFIC_TYPE_UNSPECIFIED'],
]);

/** The request field with a term that has no price although it may cost more; undefined where there is none. */
export function unpricedTerm({ factors }: Price, terms: Terms = {}): string | undefined {
  for (const name of termNames) {
    const word = terms[name];
    if (word === undefined || noDearer.has(word)) continue;
    if (factorAt(factors?.[name], word) === undefined) return termFields[name];
  }
  return undefined;
}

const termFields: Readonly<Record<keyof Terms, string>> = {
  serviceTier: 'service_tier',
  speed: 'speed',
  inferenceGeo: 'inference_geo',
};

function factorAt(factors: Readonly<Record<string, number>> | undefined, word: string | undefined): number | undefined {
  return factors !== undefined && word !== undefined && Object.hasOwn(factors, word) ? factors[word] : undefined;
}

/** Multiplies two factors in millionths, rounded up to a millionth. */
const times = (one: number, other: number): number => {
  if (other === oneFactor) return one;
  return one === oneFactor ? other : Number((BigInt(one) * BigInt(other) + BigInt(oneFactor) - 1n) / BigInt(oneFactor));
};

type Calls = Readonly<Record<string, number>>;

/** The number of tool calls that the answer reports; the upper bound where an answer broke off without a report. */
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

/** The cost of the counted tool calls; of the upper bound where the count is guessed. */
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

/** The cost of the most tool calls that the request may cause, all of the most expensive kind. */
export function worstToolNanos({ tools = {} }: Pick<Price, 'tools'>, { kinds, most = 1 }: HostedTools): number {
  let dearest = 0;
  for (const kind of kinds) dearest = Math.max(dearest, (tools[kind] ?? 0) + (tools[queryOf(kind)] ?? 0));
  return dearest * most;
}

const queryOf = (kind: string): string => `${kind}_query`;

export function unpricedTool({ tools = {} }: Price, { tools: asked }: RequestEstimate): string | undefined {
  return asked?.kinds.find((kind) => tools[kind] === undefined && tools[queryOf(kind)] === undefined);
}

export function isOffPriceList({ tools = {} }: Price, calls: Calls): boolean {
  return Object.keys(calls).some((kind) => {
    const ofAnswer = kind.endsWith('_query') ? kind.slice(0, -'_query'.length) : kind;
    return tools[kind] === undefined && tools[ofAnswer] === undefined && tools[queryOf(ofAnswer)] === undefined;
  });
}
