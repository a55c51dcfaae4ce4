/** What `postern check` says of lists: what is remembered and joined of them, and how long they may be at each target. */

import { type Label, labels } from '../../core/label.ts';
import { limitsOf, listOperations } from '../../core/lists.ts';
import { type Model, offerKey, type Target } from '../../core/snapshot.ts';
import { fromBytes, fromMilliseconds } from '../../lib/quantities.ts';

export function toListPlan({ cache, dedupes = false, coalesce, targets, operations }: Model) {
  return {
    cache: cache === undefined ? null : cacheText(cache),
    dedupe: dedupes,
    coalesce:
      coalesce === undefined ? null : { window: fromMilliseconds(coalesce.windowMs), max_items: coalesce.maxItems },
    maxima: targets.flatMap((target) => maximaOf(target, operations)),
  };
}

function cacheText({ ttlMs, scope, maxBytes, countsForLimits }: NonNullable<Model['cache']>) {
  return {
    ttl: fromMilliseconds(ttlMs),
    scope,
    max: fromBytes(maxBytes),
    limits: countsForLimits ? 'all' : 'asked',
  };
}

/** Where anything is known. */
function maximaOf(target: Target, operations: Model['operations']) {
  return operations
    .filter((operation) => listOperations.has(operation))
    .flatMap((operation) => {
      const offer = labels
        .map((label: Label) => target.offers.get(offerKey(label, operation)))
        .find((one) => one !== undefined);
      if (offer === undefined) return [];
      const { items, tokens, bytes } = limitsOf({ target, offer, lifted: false });
      if (items === undefined && tokens === undefined && bytes === undefined) return [];
      return [
        {
          upstream: target.upstream.id,
          operation,
          items: items ?? null,
          tokens: tokens ?? null,
          bytes: bytes === undefined ? null : fromBytes(bytes),
        },
      ];
    });
}
