/** Estimates the worst-case usage with tools that the service runs: each tool call is billed with all earlier results as input. */

import type { HostedTools, RequestEstimate } from '../../core/accounting/price.ts';
import type { RoutePlan } from '../../core/dispatch.ts';

type Model = Pick<RoutePlan['model'], 'context' | 'maxToolCalls'>;

/** Limit of a count of tokens: more than any model takes, and small enough for exact products. */
const mostTokens = 1_000_000_000;

/** Raises an estimate for hosted tools. `field`: the field that requests these tools. */
export function withTools(
  estimate: RequestEstimate,
  reported: HostedTools | undefined,
  field: string,
  model: Model,
): RequestEstimate {
  if (reported === undefined) return estimate;
  const most = leastOf(reported.most, reported.areSure === true ? undefined : model.maxToolCalls);
  const tools: HostedTools = { ...reported, most };
  if (most === undefined || model.context === undefined) {
    return { ...estimate, tools, unbounded: estimate.unbounded ?? field };
  }
  return { ...estimate, tools, mostInputTokens: Math.min(model.context * (most + 1), mostTokens) };
}

function leastOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
