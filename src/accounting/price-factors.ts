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

/** Of what the service says of its answer; where it does not say, of what was asked for. In millionths. */
export function factorOf({ factors }: Price, { terms, batch }: RequestEstimate, said: Units | undefined): number {
  if (factors === undefined) return oneFactor;
  let product = oneFactor;
  for (const name of termNames) {
    // What a batch costs less is a matter of its own.
    if (name === 'serviceTier' && batch !== undefined) continue;
    const word = said?.[name] ?? terms?.[name];
    product = times(product, factorAt(factors[name], word) ?? oneFactor);
  }
  return product;
}

/** The dearest that the request may get: what it leaves to the service may be any, and what it asks for may turn out to be what all get. */
export function dearestFactor({ factors }: Price, { terms, batch }: RequestEstimate): number {
  if (factors === undefined) return oneFactor;
  let product = oneFactor;
  for (const name of termNames) {
    if (name === 'serviceTier' && batch !== undefined) continue;
    product = times(product, dearestOf(factors[name], terms?.[name], name));
  }
  return product;
}

/** Nobody is served faster without asking for it. */
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
/** What nobody is charged more for, wherever it is known. */
const noDearer: ReadonlySet<string> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand', 'flex', 'batch', 'scale', 'global', 'not_available'],
  ...['ON_DEMAND', 'ON_DEMAND_FLEX', 'PROVISIONED_THROUGHPUT', 'TRAFFIC_TYPE_UNSPECIFIED'],
]);

/** The field that asks for what this price says nothing of, though it may well cost more. */
export function unpricedTerm({ factors }: Price, terms: Terms = {}): string | undefined {
  for (const name of termNames) {
    const word = terms[name];
    if (word === undefined || noDearer.has(word)) continue;
    if (factorAt(factors?.[name], word) === undefined) return termFields[name];
  }
  return undefined;
}

/** As requests spell them. */
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

/** What the calls of tools cost that a service runs itself. */
type Calls = Readonly<Record<string, number>>;

/** As the service says; where it did not come to that, as many as there may have been. */
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

/** Of as many as were counted, each by its kind; no more than all of them may have been. */
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

/** All of them may be of the dearest kind. */
export function worstToolNanos({ tools = {} }: Pick<Price, 'tools'>, { kinds, most = 1 }: HostedTools): number {
  let dearest = 0;
  for (const kind of kinds) dearest = Math.max(dearest, (tools[kind] ?? 0) + (tools[queryOf(kind)] ?? 0));
  return dearest * most;
}

const queryOf = (kind: string): string => `${kind}_query`;

/** The first kind that is asked for and has no price. */
export function unpricedTool({ tools = {} }: Price, { tools: asked }: RequestEstimate): string | undefined {
  return asked?.kinds.find((kind) => tools[kind] === undefined && tools[queryOf(kind)] === undefined);
}

/** Some of what was called has no price. */
export function isOffPriceList({ tools = {} }: Price, calls: Calls): boolean {
  return Object.keys(calls).some((kind) => {
    const ofAnswer = kind.endsWith('_query') ? kind.slice(0, -'_query'.length) : kind;
    return tools[kind] === undefined && tools[ofAnswer] === undefined && tools[queryOf(ofAnswer)] === undefined;
  });
}
