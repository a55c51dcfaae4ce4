/** Validates a configuration against the schema, and returns its valid part: settings, and the elements of each list with their positions. */

import type * as z from 'zod';
import { type ResourceKind, resourceKinds } from '../../core/store/resources.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { createNearestName, type NearestName } from '../../lib/nearest-name.ts';
import type { Path } from '../read/faults.ts';
import { checkLiteralVariables, foreignFileFault } from '../read/foreign-files.ts';
import type { Substitution } from '../read/substitute.ts';
import { listAt, partsOf } from '../read/tree.ts';
import { resourceLists } from '../store/resource-schemas.ts';
import type { Chunk } from '../store/resources.ts';
import { addingStoredSettings, type StoredSettings } from '../store/stored-settings.ts';
import { type Entry, inFileToo, Location, type Reporting } from './context.ts';
import { judge } from './judge.ts';
import { type KeyEntry, keySchema } from './key/terms.ts';
import { type ModelEntry, modelSchema } from './model/schema.ts';
import { type ProjectEntry, projectSchema } from './project.ts';
import { lightAtOnce, none, ReusableStep, sameList, silent, toElement } from './reuse.ts';
import { type RouteEntry, routeSchema } from './route.ts';
import { settingsSchema } from './schema.ts';
import { type UpstreamEntry, upstreamSchema } from './upstream/schema.ts';

/** The valid part of a configuration from the file and the store. The store's elements come last; of two with one name the file's counts. */
export interface ConfigurationDocument extends StoredSettings {
  /** All upstreams; the same array as in the load before while none of them has changed. */
  readonly upstreams: readonly Entry<UpstreamEntry>[];
  /** All models, in groups. A group of the store is the same array as in the load before while nothing in it has changed. */
  readonly models: readonly (readonly Entry<ModelEntry>[])[];
  readonly projects: readonly Entry<ProjectEntry>[];
  readonly keys: readonly Entry<KeyEntry>[];
  readonly routes: readonly Entry<RouteEntry>[];
  /** The IDs of all upstreams, faulty ones included, so that a reference to a faulty one is not another fault. */
  readonly upstreamIds: ReadonlySet<string>;
  readonly nearestUpstream: NearestName;
  /** The IDs and aliases of all models, faulty ones included. */
  readonly modelNames: ReadonlySet<string>;
  readonly areModelNamesUnique: boolean;
  /** The IDs of all projects, faulty ones included. */
  readonly projectIds: ReadonlySet<string>;
  readonly nearestProject: NearestName;
}

interface JudgeOptions extends Pick<Reporting, 'faults' | 'locator'> {
  readonly elements: readonly Chunk[];
}

/** A list of the configuration: its schema, its kind in the store where that can hold such elements, and what the last load made of it. */
const listOf = <T extends z.ZodType>(schema: T, kind?: ResourceKind) => ({
  schema,
  kind,
  judging: new ReusableStep<Entry<z.output<T>>[]>(),
  judgingChunk: new ReusableStep<Entry<z.output<T>>[]>(),
});

/** The lists of the configuration. Their elements are validated independently, wherever they are written. */
const lists = {
  upstreams: listOf(upstreamSchema, 'upstream'),
  models: listOf(modelSchema, 'model'),
  projects: listOf(projectSchema, 'project'),
  keys: listOf(keySchema),
  routes: listOf(routeSchema),
};
type ElementList = keyof typeof lists;

export const isElementList = (key: string): key is ElementList => Object.hasOwn(lists, key);

/** The valid part of a file and the store; undefined where the file is no mapping at all. It may pause at every `yield`. */
export function* judgingDocument(
  substitution: Substitution,
  { faults, locator, elements }: JudgeOptions,
): Generator<undefined, ConfigurationDocument | undefined, undefined> {
  const { tree, isSubstituted } = substitution;
  const foreign = foreignFileFault(tree);
  if (foreign !== undefined || !isMapping(tree)) {
    faults.add([], foreign ?? 'is not a mapping of keys to values');
    return undefined;
  }
  const context: Reporting = { faults, isSubstituted, locator, warnings: [] };
  yield* checkAllForVariables(tree, elements, context);
  const written = judge(settingsSchema, withoutElements(tree), [], context);
  if (written === undefined) return undefined;

  const owned = withoutConflicts(elements, tree, context);
  const settings = owned.flatMap(({ kind, elements: all }) => (kind === 'setting' ? all : []));
  const stored = yield* addingStoredSettings(written, tree, settings, context);
  const byKind = Map.groupBy(owned, ({ kind }) => kind);
  const ownedOf = (kind: ResourceKind): readonly Chunk[] => byKind.get(kind) ?? [];

  yield;

  function* judgeAll<T extends z.ZodType>(
    list: ElementList,
    { schema, kind, judging, judgingChunk }: ReturnType<typeof listOf<T>>,
  ): Generator<undefined, Entry<z.output<T>>[][], undefined> {
    const entries: Entry<z.output<T>>[] = [];
    for (const [index, element] of listAt(tree, list).entries()) {
      if (judging.isPauseDue()) yield;
      const judgeIt = () => judgeOne(schema, { document: element }, [list, index], context);
      entries.push(...judging.of(toElement(element), [index], context, judgeIt));
    }
    const groups = entries.length === 0 ? [] : [entries];
    for (const chunk of kind === undefined ? [] : ownedOf(kind)) {
      if (judgingChunk.isPauseDue()) yield;
      const ofChunk = judgingChunk.of(chunk, none, context, () =>
        chunk.elements.flatMap((one) =>
          judging.of(one, none, context, () => judgeOne(schema, one, [one.root], context)),
        ),
      );
      groups.push(ofChunk);
    }
    return groups;
  }

  const { names: upstreamIds } = yield* namesIn(listAt(tree, 'upstreams'), ownedOf('upstream'));
  const { names: projectIds } = yield* namesIn(listAt(tree, 'projects'), ownedOf('project'));
  const { names: modelNames, areUnique } = yield* namesIn(listAt(tree, 'models'), ownedOf('model'));
  upstreamEntries = sameList(upstreamEntries, (yield* judgeAll('upstreams', lists.upstreams)).flat());
  return {
    ...stored,
    upstreams: upstreamEntries,
    models: yield* judgeAll('models', lists.models),
    projects: (yield* judgeAll('projects', lists.projects)).flat(),
    keys: (yield* judgeAll('keys', lists.keys)).flat(),
    routes: (yield* judgeAll('routes', lists.routes)).flat(),
    upstreamIds,
    nearestUpstream: createNearestName(upstreamIds),
    modelNames,
    areModelNamesUnique: areUnique,
    projectIds,
    nearestProject: createNearestName(projectIds),
  };
}

/** The upstreams of the load before; the same array is returned again while none of them has changed. */
let upstreamEntries: readonly Entry<UpstreamEntry>[] = [];

function judgeOne<T extends z.ZodType>(
  schema: T,
  { document, createdAtMs }: { readonly document: unknown; readonly createdAtMs?: number },
  path: Path,
  context: Reporting,
): Entry<z.output<T>>[] {
  const value = judge(schema, document, path, context);
  return value === undefined ? [] : [{ path, value, createdAtMs }];
}

function* checkAllForVariables(
  tree: Tree,
  chunks: readonly Chunk[],
  context: Reporting,
): Generator<undefined, void, undefined> {
  for (const [path, part] of partsOf(tree)) {
    if (variableCheck.isPauseDue()) yield;
    variableCheck.of(toElement(part), path, context, () => checkLiteralVariables(part, path, context));
  }
  for (const chunk of chunks) {
    if (variableCheck.isPauseDue()) yield;
    variableCheck.of(chunk, none, context, () => {
      for (const { root, document } of chunk.elements) checkLiteralVariables(document, [root], context);
    });
  }
}

const variableCheck = new ReusableStep<void>();

type Tree = Readonly<Record<string, unknown>>;

/** The file's settings with empty lists: the elements of lists are validated one by one, later. */
function withoutElements(tree: Tree): Tree {
  const settings = { ...tree };
  for (const list of Object.keys(lists)) if (Array.isArray(settings[list])) settings[list] = [];
  return settings;
}

function* namesIn(written: readonly unknown[], owned: readonly Chunk[]) {
  const names = new Set<string>();
  let count = 0;
  const add = (found: readonly string[]): void => {
    count += found.length;
    for (const name of found) names.add(name);
  };
  for (const [index, element] of written.entries()) {
    if (index % lightAtOnce === 0) yield;
    add(namesOf(element));
  }
  for (const chunk of owned) {
    yield;
    add(naming.of(chunk, none, silent, () => chunk.elements.flatMap(({ document }) => namesOf(document))));
  }
  return { names, areUnique: names.size === count };
}

const naming = new ReusableStep<readonly string[]>();

function namesOf(element: unknown): string[] {
  if (!isMapping(element)) return [];
  const { id, aliases = [] } = element;
  return [id, aliases].flat().filter((name) => typeof name === 'string');
}

/** The store's elements, without those that have the ID of one in the file, which is reported as a fault. */
function withoutConflicts(chunks: readonly Chunk[], tree: Tree, context: Reporting): Chunk[] {
  const inFile = new Map(resourceKinds.map((kind) => [kind, indexesIn(kind, tree)]));
  return chunks.map((chunk) => {
    const { kind, elements } = chunk;
    const indexes = inFile.get(kind);
    return conflictCheck.of(chunk, [indexes], context, () => {
      const fitting = elements.filter(({ id, root, document }) => {
        const fault = (message: string): void => new Location(context, [root, 'id']).fault(message);
        if (document.id !== id) {
          fault(`is not the ID that it has in the store, which is ${JSON.stringify(id)}`);
          return false;
        }
        const index = indexes?.get(id);
        if (index === undefined) return true;
        fault(`${JSON.stringify(id)} ${inFileToo(new Location(context, [resourceLists[kind], index, 'id']))}`);
        return false;
      });
      return fitting.length === elements.length ? chunk : { kind, elements: fitting };
    });
  });
}

const conflictCheck = new ReusableStep<Chunk>();

/** The positions of a list's elements in the file, by ID; undefined where it has none. Settings are compared key by key elsewhere. */
function indexesIn(kind: ResourceKind, tree: Tree): ReadonlyMap<string, number> | undefined {
  const elements = kind === 'setting' ? [] : listAt(tree, resourceLists[kind]);
  if (elements.length === 0) return undefined;
  const indexes = new Map<string, number>();
  for (const [index, element] of elements.entries()) {
    const id = isMapping(element) && typeof element.id === 'string' ? element.id : undefined;
    if (id !== undefined && !indexes.has(id)) indexes.set(id, index);
  }
  return indexes;
}
