/** A configuration that fits the schema, or as much of it as does: the settings, and each list's elements with their places. */

import type * as z from 'zod';
import type { ResourceKind } from '../core/store.ts';
import { type FaultList, type Path, type Position, toPathText } from './faults.ts';
import { foreignFileFault } from './foreign-files.ts';
import { isMapping } from './is-mapping.ts';
import { judge } from './judge.ts';
import { checkLiteralVariables } from './literal-variables.ts';
import { type ModelEntry, modelSchema } from './model-schema.ts';
import { type ProjectEntry, projectSchema } from './project-schema.ts';
import { resourceLists } from './resource-schemas.ts';
import type { Element } from './resources.ts';
import { type KeyEntry, keySchema, type Settings, settingsSchema } from './schema.ts';
import { withStoredSettings } from './stored-settings.ts';
import type { Substitution } from './substitute.ts';
import { type UpstreamEntry, upstreamSchema } from './upstream-schema.ts';

export interface Entry<T> {
  readonly path: Path;
  readonly value: T;
}

/** From the file and from the store. Those of the store come last: of two that claim a name, the file has it. */
export interface ConfigurationDocument {
  /** In its lists, too, what is in the store stands behind what is in the file. */
  readonly settings: Settings;
  /** Whoever wrote their addresses may lead only where the file lets them. */
  readonly areWebhooksStored: boolean;
  readonly upstreams: readonly Entry<UpstreamEntry>[];
  readonly models: readonly Entry<ModelEntry>[];
  readonly projects: readonly Entry<ProjectEntry>[];
  readonly keys: readonly Entry<KeyEntry>[];
  /** Of all upstreams, those at fault included: to name one of them is no further fault. */
  readonly upstreamIds: ReadonlySet<string>;
  /** IDs and aliases of all models, likewise. */
  readonly modelNames: ReadonlySet<string>;
  /** Of all projects, likewise. */
  readonly projectIds: ReadonlySet<string>;
}

interface JudgeOptions {
  readonly faults: FaultList;
  readonly positionOf: (path: Path) => Position | undefined;
  /** Of the store, or on the way into it. */
  readonly elements: readonly Element[];
}

/** Undefined where the file is no mapping at all. */
export function judgeDocument(
  substitution: Substitution,
  { faults, positionOf, elements }: JudgeOptions,
): ConfigurationDocument | undefined {
  const { tree, isSubstituted } = substitution;
  const foreign = foreignFileFault(tree);
  if (foreign !== undefined || !isMapping(tree)) {
    faults.add([], foreign ?? 'is not a mapping of keys to values');
    return undefined;
  }
  const context = { faults, isSubstituted };
  checkLiteralVariables(tree, [], context);
  for (const { root, document } of elements) checkLiteralVariables(document, [root], context);
  const written = judge(settingsSchema, tree, [], context);
  if (written === undefined) return undefined;

  const owned = withoutConflicts(elements, written, { faults, positionOf });
  const stored = withStoredSettings(written, tree, owned, { ...context, positionOf });
  const documentsOf = (kind: ResourceKind): unknown[] =>
    owned.flatMap((element) => (element.kind === kind ? [element.document] : []));
  const settings: Settings = {
    ...stored.settings,
    upstreams: [...written.upstreams, ...documentsOf('upstream')],
    models: [...written.models, ...documentsOf('model')],
    projects: [...written.projects, ...documentsOf('project')],
  };

  function judgeOne<T extends z.ZodType>(schema: T, element: unknown, path: Path): Entry<z.output<T>>[] {
    const value = judge(schema, element, path, context);
    return value === undefined ? [] : [{ path, value }];
  }
  const judgeFile = <T extends z.ZodType>(schema: T, list: 'upstreams' | 'models' | 'projects' | 'keys') =>
    written[list].flatMap((element, index) => judgeOne(schema, element, [list, index]));
  const judgeStore = <T extends z.ZodType>(schema: T, kind: ResourceKind) =>
    owned.flatMap((one) => (one.kind === kind ? judgeOne(schema, one.document, [one.root]) : []));

  return {
    settings,
    areWebhooksStored: stored.areWebhooksStored,
    upstreams: [...judgeFile(upstreamSchema, 'upstreams'), ...judgeStore(upstreamSchema, 'upstream')],
    models: [...judgeFile(modelSchema, 'models'), ...judgeStore(modelSchema, 'model')],
    projects: [...judgeFile(projectSchema, 'projects'), ...judgeStore(projectSchema, 'project')],
    keys: judgeFile(keySchema, 'keys'),
    upstreamIds: new Set(settings.upstreams.flatMap((upstream) => textsAt(upstream, 'id'))),
    modelNames: new Set(settings.models.flatMap((model) => [...textsAt(model, 'id'), ...textsAt(model, 'aliases')])),
    projectIds: new Set(settings.projects.flatMap((project) => textsAt(project, 'id'))),
  };
}

/** What the file declares is the file's: whoever has the same ID in the store is at fault, and left out from here on. */
function withoutConflicts(
  elements: readonly Element[],
  written: Settings,
  { faults, positionOf }: Pick<JudgeOptions, 'faults' | 'positionOf'>,
): Element[] {
  return elements.filter(({ kind, id, root, document }) => {
    if (document.id !== id) {
      faults.add([root, 'id'], `is not the ID that it has in the store, which is ${JSON.stringify(id)}`);
      return false;
    }
    // Its keys are looked at one by one.
    if (kind === 'setting') return true;
    const list = resourceLists[kind];
    const index = written[list].findIndex((element) => isMapping(element) && element.id === id);
    if (index === -1) return true;
    const place = [list, index, 'id'];
    const line = positionOf(place)?.line;
    faults.add(
      [root, 'id'],
      `${JSON.stringify(id)} is declared by the configuration file too: ${toPathText(place)}${line === undefined ? '' : ` (line ${line})`}; the file manages it, so change it there, or take it out of one of the two`,
    );
    return false;
  });
}

function textsAt(value: unknown, key: string): string[] {
  if (!isMapping(value)) return [];
  return [value[key]].flat().filter((item) => typeof item === 'string');
}
