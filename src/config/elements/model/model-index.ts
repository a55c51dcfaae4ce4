/** Finds the model that a client means: an exact ID or alias, else the longest matching pattern. */

import { mayBeMatched, upstreamNameOf } from '../../../core/model-name.ts';
import type { Model, ModelIndex, ResolvedModel } from '../../../core/snapshot.ts';

interface Pattern {
  readonly model: Model;
  readonly prefix: string;
  readonly suffix: string;
  /** The upstreams' names for it that are made of what the pattern matched. */
  readonly made: readonly string[];
}

/** Every `yield` is a place to stop at. */
export function* indexingModels(models: readonly Model[]): Generator<undefined, ModelIndex, undefined> {
  const exact = new Map<string, ResolvedModel>();
  const patterns: Pattern[] = [];
  const namesByUpstream = new Map<string, Set<string>>();
  for (const model of models) {
    yield;
    for (const { upstream, model: name } of model.targets) {
      const names = namesByUpstream.get(upstream.id);
      if (names === undefined) namesByUpstream.set(upstream.id, new Set([name]));
      else names.add(name);
    }
    const resolved = Object.freeze({ model, id: model.id, matched: '' });
    for (const alias of model.aliases) exact.set(alias, resolved);
    const [prefix = '', suffix] = model.id.split('*');
    if (suffix === undefined) exact.set(model.id, resolved);
    else patterns.push({ model, prefix, suffix, made: namesMadeBy(model) });
  }
  patterns.sort((a, b) => b.model.id.length - a.model.id.length);

  return Object.freeze({
    all: Object.freeze([...models]),
    namesByUpstream,
    resolve(name: string) {
      const found = exact.get(name);
      // A pattern stands for names, not for itself.
      if (found !== undefined || patterns.length === 0 || name.includes('*') || !mayBeMatched(name)) return found;
      for (const { model, prefix, suffix, made } of patterns) {
        if (name.length < prefix.length + suffix.length) continue;
        if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
        const matched = name.slice(prefix.length, name.length - suffix.length);
        // With `x*`, `x../y` is a harmless name, and `../y` behind it is none.
        return made.every((one) => mayBeMatched(upstreamNameOf(one, matched)))
          ? { model, id: name, matched }
          : undefined;
      }
      return undefined;
    },
  });
}

function namesMadeBy({ targets }: Model): string[] {
  return [...new Set(targets.map(({ model }) => model).filter((name) => name.includes('*')))];
}
