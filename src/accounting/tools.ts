/** What the calls of tools cost that a service runs itself. */

import type { HostedTools, Price, RequestEstimate } from '../core/accounting/price.ts';
import type { Exchange } from '../core/exchange.ts';

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
