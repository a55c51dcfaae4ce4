/** What operators see of a model's lists: what is set, and whether it is what it was. */

import type { Model } from '../../core/snapshot.ts';
import type { HealthReport } from '../../core/target-state.ts';
import { fromBytes, fromMilliseconds } from '../../lib/quantities.ts';
import { toInstant } from '../shapes/common.ts';

export function toListView(model: Model | undefined, id: string, reports: readonly HealthReport[]) {
  const { cache, dedupes = false, coalesce, shadow, canary } = model ?? {};
  return {
    cache: cache ? { ttl: fromMilliseconds(cache.ttlMs), scope: cache.scope, max: fromBytes(cache.maxBytes) } : null,
    dedupe: dedupes,
    coalesce: coalesce ? { window: fromMilliseconds(coalesce.windowMs), maxItems: coalesce.maxItems } : null,
    shadow: shadow ? { ...shadow } : null,
    canary: canary ? { texts: canary.texts.length, every: fromMilliseconds(canary.everyMs) } : null,
    agreements: reports.flatMap(({ node, drift }) =>
      (drift?.shadows ?? [])
        .filter((one) => one.model === id)
        .map(({ model: _, ...agreement }) => ({ node, ...agreement })),
    ),
    canaries: reports.flatMap(({ node, drift }) =>
      (drift?.canaries ?? [])
        .filter((one) => one.model === id)
        .map(({ model: _, checkedAtS, ...state }) => ({
          node,
          ...state,
          checkedAt: checkedAtS === null ? null : toInstant(checkedAtS * 1_000),
        })),
    ),
  };
}
