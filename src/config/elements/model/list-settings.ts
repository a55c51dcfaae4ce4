/** What is remembered and joined of lists, and where that has an effect. */

import { listOperations } from '../../../core/lists.ts';
import type { Operation } from '../../../core/operations/index.ts';
import type { Model } from '../../../core/snapshot.ts';
import { nearestName } from '../../../lib/nearest-name.ts';
import { type Path, suggestion, toPathText } from '../../read/faults.ts';
import { type CompileContext, quoted } from '../context.ts';
import type { ModelEntry } from './schema.ts';

export function toListSettings(
  { cache, dedupe, coalesce, shadow, canary, matryoshka, dimensions }: ModelEntry,
  path: Path,
  served: readonly Operation[],
  { warnings, faults }: CompileContext,
): Pick<Model, 'cache' | 'dedupes' | 'coalesce' | 'shadow' | 'canary'> {
  const isIdle = !served.some((operation) => listOperations.has(operation));
  for (const [name, isSet] of [
    ['cache', cache !== undefined],
    ['dedupe', dedupe],
    ['coalesce', coalesce !== undefined],
    ['shadow', shadow !== undefined],
  ] as const) {
    if (!isSet || !isIdle) continue;
    warnings.push(
      `${toPathText([...path, name])} has no effect, as the model serves no lists (${[...listOperations].join(', ')})`,
    );
  }
  if (matryoshka && dimensions === undefined) {
    faults.add([...path, 'matryoshka'], 'needs dimensions: how many numbers its vectors have as upstreams make them');
  }
  if (canary !== undefined && !served.includes('embeddings')) {
    warnings.push(`${toPathText([...path, 'canary'])} has no effect, as the model makes no embeddings`);
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
    shadow: shadow && Object.freeze({ ...shadow }),
    canary: canary && Object.freeze({ texts: Object.freeze([...canary.texts]), everyMs: canary.every }),
    coalesce: coalesce && Object.freeze({ windowMs: coalesce.window, maxItems: coalesce.max_items }),
  };
}

/** A shadow that is nobody would never be asked, and one that is itself agrees with itself. */
export function checkShadow(
  { id, shadow }: ModelEntry,
  path: Path,
  names: ReadonlySet<string>,
  context: CompileContext,
): void {
  if (shadow === undefined) return;
  const at = [...path, 'shadow', 'model'];
  if (shadow.model === id) context.faults.add(at, 'is the model itself; name another one');
  const isKnown =
    names.has(shadow.model) || [...names].some((name) => name.includes('*') && matches(name, shadow.model));
  if (!isKnown) {
    const hint = suggestion(nearestName(shadow.model, [...names])) || '; declare it under models';
    context.faults.add(at, `there is no model ${quoted(context, at, shadow.model)}${hint}`);
  }
}

function matches(pattern: string, name: string): boolean {
  const [start = '', end = ''] = pattern.split('*');
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
}
