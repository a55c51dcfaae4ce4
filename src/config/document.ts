/** A configuration that fits the schema, or as much of it as does: the settings, and each list's elements with their places. */

import type * as z from 'zod';
import type { FaultList, Path } from './faults.ts';
import { judge } from './judge.ts';
import { type ModelEntry, modelSchema } from './model-schema.ts';
import { type KeyEntry, keySchema, type Settings, settingsSchema } from './schema.ts';
import type { Substitution } from './substitute.ts';
import { type UpstreamEntry, upstreamSchema } from './upstream-schema.ts';

export interface Entry<T> {
  readonly path: Path;
  readonly value: T;
}

export interface ConfigurationDocument {
  readonly settings: Settings;
  readonly upstreams: readonly Entry<UpstreamEntry>[];
  readonly models: readonly Entry<ModelEntry>[];
  readonly keys: readonly Entry<KeyEntry>[];
  /** Of all upstreams in the file, those at fault included: to name one of them is no further fault. */
  readonly upstreamIds: ReadonlySet<string>;
  /** IDs and aliases of all models in the file, likewise. */
  readonly modelNames: ReadonlySet<string>;
}

/** Undefined where the file is no mapping at all. */
export function judgeDocument(substitution: Substitution, faults: FaultList): ConfigurationDocument | undefined {
  const { tree, isSubstituted } = substitution;
  if (!isMapping(tree)) {
    faults.add([], 'is not a mapping of keys to values');
    return undefined;
  }
  const context = { faults, isSubstituted };
  const settings = judge(settingsSchema, tree, [], context);
  if (settings === undefined) return undefined;

  const judgeAll = <T extends z.ZodType>(schema: T, list: 'upstreams' | 'models' | 'keys'): Entry<z.output<T>>[] =>
    settings[list].flatMap((element, index) => {
      const path = [list, index];
      const value = judge(schema, element, path, context);
      return value === undefined ? [] : [{ path, value }];
    });

  return {
    settings,
    upstreams: judgeAll(upstreamSchema, 'upstreams'),
    models: judgeAll(modelSchema, 'models'),
    keys: judgeAll(keySchema, 'keys'),
    upstreamIds: new Set(settings.upstreams.flatMap((upstream) => textsAt(upstream, 'id'))),
    modelNames: new Set(settings.models.flatMap((model) => [...textsAt(model, 'id'), ...textsAt(model, 'aliases')])),
  };
}

function textsAt(value: unknown, key: string): string[] {
  if (!isMapping(value)) return [];
  return [value[key]].flat().filter((item) => typeof item === 'string');
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
