/** Finds the model that a client means: an exact ID or alias, else the longest matching pattern. */

import type { Model, ModelIndex, ResolvedModel } from '../core/snapshot.ts';

interface Pattern {
  readonly model: Model;
  readonly prefix: string;
  readonly suffix: string;
}

export function createModelIndex(models: readonly Model[]): ModelIndex {
  const exact = new Map<string, ResolvedModel>();
  const patterns: Pattern[] = [];
  for (const model of models) {
    const resolved = Object.freeze({ model, id: model.id, matched: '' });
    for (const alias of model.aliases) exact.set(alias, resolved);
    const [prefix = '', suffix] = model.id.split('*');
    if (suffix === undefined) exact.set(model.id, resolved);
    else patterns.push({ model, prefix, suffix });
  }
  patterns.sort((a, b) => b.model.id.length - a.model.id.length);

  return Object.freeze({
    all: Object.freeze([...models]),
    resolve(name: string) {
      const found = exact.get(name);
      // A pattern stands for names, not for itself.
      if (found !== undefined || name === '' || name.includes('*')) return found;
      for (const { model, prefix, suffix } of patterns) {
        if (name.length < prefix.length + suffix.length) continue;
        if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
        return { model, id: name, matched: name.slice(prefix.length, name.length - suffix.length) };
      }
      return undefined;
    },
  });
}
