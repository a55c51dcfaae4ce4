/** Sums the estimates of the requests of a batch. */

import type { HostedTools, RequestEstimate } from '../../core/accounting/price.ts';

export function addEstimate(sum: RequestEstimate, one: RequestEstimate): RequestEstimate {
  const unbounded = sum.unbounded ?? one.unbounded;
  const tools = addTools(sum.tools, one.tools);
  return {
    items: sum.items + one.items,
    images: sum.images + one.images,
    likelyInputTokens: sum.likelyInputTokens + one.likelyInputTokens,
    mostInputTokens: sum.mostInputTokens + one.mostInputTokens,
    mostOutputTokens: sum.mostOutputTokens + one.mostOutputTokens,
    mostSearchUnits: sum.mostSearchUnits + one.mostSearchUnits,
    isStream: false,
    ...(tools !== undefined && { tools }),
    ...(unbounded !== undefined && { unbounded }),
  };
}

function addTools(sum: HostedTools | undefined, one: HostedTools | undefined): HostedTools | undefined {
  if (sum === undefined || one === undefined) return sum ?? one;
  const kinds = [...new Set([...sum.kinds, ...one.kinds])];
  const most = sum.most === undefined || one.most === undefined ? undefined : sum.most + one.most;
  return { kinds, most, ...(sum.areSure === true && one.areSure === true && { areSure: true }) };
}

/** Of which nobody can tell from an answer whether its request asked for them: all lines of a batch must ask for the same. */
export const sureToolsOf = ({ tools }: RequestEstimate): string =>
  tools?.areSure === true ? tools.kinds.toSorted().join(' ') : '';

/** That of one of its lines, as far as it is known when it was answered: `no` of all, from 0, so that all together have what the batch has. */
export function estimateOfLine(whole: RequestEstimate, lines: number, no: number, path: string): RequestEstimate {
  const share = (all: number): number => Math.floor(((no + 1) * all) / lines) - Math.floor((no * all) / lines);
  return {
    items: share(whole.items),
    images: share(whole.images),
    likelyInputTokens: share(whole.likelyInputTokens),
    mostInputTokens: share(whole.mostInputTokens),
    mostOutputTokens: share(whole.mostOutputTokens),
    mostSearchUnits: share(whole.mostSearchUnits),
    isStream: false,
    ...(whole.tools !== undefined && {
      tools: { ...whole.tools, most: whole.tools.most === undefined ? undefined : share(whole.tools.most) },
    }),
    batch: { path, lines: 1 },
  };
}
