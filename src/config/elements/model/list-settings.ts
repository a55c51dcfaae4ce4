/** What is remembered and joined of lists, and where that has an effect. */

import { listOperations } from '../../../core/lists.ts';
import type { Operation } from '../../../core/operations/index.ts';
import type { Model } from '../../../core/snapshot.ts';
import { type Path, toPathText } from '../../read/faults.ts';
import type { CompileContext } from '../context.ts';
import type { ModelEntry } from './schema.ts';

export function toListSettings(
  { cache, dedupe, coalesce }: ModelEntry,
  path: Path,
  served: readonly Operation[],
  { warnings }: CompileContext,
): Pick<Model, 'cache' | 'dedupes' | 'coalesce'> {
  const isIdle = !served.some((operation) => listOperations.has(operation));
  for (const [name, isSet] of [
    ['cache', cache !== undefined],
    ['dedupe', dedupe],
    ['coalesce', coalesce !== undefined],
  ] as const) {
    if (!isSet || !isIdle) continue;
    warnings.push(
      `${toPathText([...path, name])} has no effect, as the model serves no lists (${[...listOperations].join(', ')})`,
    );
  }
  return {
    cache:
      cache &&
      Object.freeze({
        ttlMs: cache.ttl,
        scope: cache.scope,
        maxBytes: cache.max,
        countsForLimits: cache.limits === 'all',
      }),
    dedupes: dedupe,
    coalesce: coalesce && Object.freeze({ windowMs: coalesce.window, maxItems: coalesce.max_items }),
  };
}
