/** A configuration that fits the schema, or the valid part of it: settings, and the elements of each list with their positions. */

import type * as z from 'zod';
import type { ResourceKind } from '../../core/store/resources.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { createNearestName, type NearestName } from '../../lib/nearest-name.ts';
import type { ImportedPrices } from '../../prices/imported.ts';
import type { Path } from '../read/faults.ts';
import { checkLiteralVariables, foreignFileFault } from '../read/foreign-files.ts';
import type { Substitution } from '../read/substitute.ts';
import { partsOf } from '../read/tree.ts';
import { resourceLists } from '../store/resource-schemas.ts';
import type { Element } from '../store/resources.ts';
import { addingStoredSettings } from '../store/stored-settings.ts';
import { type Entry, inFileToo, Location, type Reporting } from './context.ts';
import { judge } from './judge.ts';
import { type KeyEntry, keySchema } from './key/terms.ts';
import { type ModelEntry, modelSchema } from './model/schema.ts';
import { type ProjectEntry, projectSchema } from './project.ts';
import { lightAtOnce, ReusableStep } from './reuse.ts';
import { type RouteEntry, routeSchema } from './route.ts';
import { type Settings, settingsSchema } from './schema.ts';
import { type UpstreamEntry, upstreamSchema } from './upstream/schema.ts';

/** From the file and the store. The store's elements come last: of two with one name, the file's wins. */
export interface ConfigurationDocument {
  /** Its lists are those of the file. */
  readonly settings: Settings;
  /** Webhooks of the store obey the file's address policy. */
  readonly areWebhooksStored: boolean;
  /** Set where the store holds a price list. */
  readonly importedPrices: ImportedPrices | undefined;
  readonly upstreams: readonly Entry<UpstreamEntry>[];
  readonly models: readonly Entry<ModelEntry>[];
  readonly projects: readonly Entry<ProjectEntry>[];
  readonly keys: readonly Entry<KeyEntry>[];
  readonly routes: readonly Entry<RouteEntry>[];
  /** Of all upstreams, faulty ones included: a reference to one of them is no further fault. */
  readonly upstreamIds: ReadonlySet<string>;
  readonly nearestUpstream: NearestName;
  /** IDs and aliases of all models, likewise. */
  readonly modelNames: ReadonlySet<string>;
  /** Of all projects, likewise. */
  readonly projectIds: ReadonlySet<string>;
  readonly nearestProject: NearestName;
}

interface JudgeOptions extends Pick<Reporting, 'faults' | 'locator'> {
  /** Of the store, or about to be stored. */
  readonly elements: readonly Element[];
}

/** How elements of a list in the store are judged. */
interface StoredList<T extends z.ZodType> {
  readonly kind: ResourceKind;
  readonly judging: ReusableStep<Entry<z.output<T>>[]>;
}

const storedUpstreams: StoredList<typeof upstreamSchema> = { kind: 'upstream', judging: new ReusableStep() };
const storedModels: StoredList<typeof modelSchema> = { kind: 'model', judging: new ReusableStep() };
const storedProjects: StoredList<typeof projectSchema> = { kind: 'project', judging: new ReusableStep() };

/** Undefined where the file is no mapping at all. It may pause at every `yield`. */
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
  const written = judgeSettings(tree, context);
  if (written === undefined) return undefined;

  const owned = withoutConflicts(elements, written, context);
  const stored = yield* addingStoredSettings(written, tree, owned, context);
  const byKind = Map.groupBy(owned, ({ kind }) => kind);
  const ownedOf = (kind: ResourceKind): readonly Element[] => byKind.get(kind) ?? [];

  yield;

  const elementsOf: Pick<Settings, ElementList> = written;
  function* judgeAll<T extends z.ZodType>(
    schema: T,
    list: ElementList,
    stored?: StoredList<T>,
  ): Generator<undefined, Entry<z.output<T>>[], undefined> {
    const entries: Entry<z.output<T>>[] = [];
    for (const [index, element] of elementsOf[list].entries()) {
      if (stored === undefined || stored.judging.isPauseDue()) yield;
      const judgeIt = () => judgeOne(schema, { document: element }, [list, index], context);
      entries.push(
        ...(stored === undefined || !isMapping(element)
          ? judgeIt()
          : stored.judging.of(element, [index], context, judgeIt)),
      );
    }
    if (stored === undefined) return entries;
    const { kind, judging } = stored;
    for (const one of ownedOf(kind)) {
      if (judging.isPauseDue()) yield;
      entries.push(...judging.of(one, none, context, () => judgeOne(schema, one, [one.root], context)));
    }
    return entries;
  }

  const upstreamIds = yield* namesIn(written.upstreams, ownedOf('upstream'));
  const projectIds = yield* namesIn(written.projects, ownedOf('project'));
  return {
    settings: stored.settings,
    areWebhooksStored: stored.areWebhooksStored,
    importedPrices: stored.importedPrices,
    upstreams: yield* judgeAll(upstreamSchema, 'upstreams', storedUpstreams),
    models: yield* judgeAll(modelSchema, 'models', storedModels),
    projects: yield* judgeAll(projectSchema, 'projects', storedProjects),
    keys: yield* judgeAll(keySchema, 'keys'),
    routes: yield* judgeAll(routeSchema, 'routes'),
    upstreamIds,
    nearestUpstream: createNearestName(upstreamIds),
    modelNames: yield* namesIn(written.models, ownedOf('model')),
    projectIds,
    nearestProject: createNearestName(projectIds),
  };
}

function judgeOne<T extends z.ZodType>(
  schema: T,
  { document, createdAtMs }: { readonly document: unknown; readonly createdAtMs?: number },
  path: Path,
  context: Reporting,
): Entry<z.output<T>>[] {
  const value = judge(schema, document, path, context);
  return value === undefined ? [] : [{ path, value, createdAtMs }];
}

const elementLists = ['upstreams', 'models', 'projects', 'keys', 'routes'] as const;
type ElementList = (typeof elementLists)[number];

/** Whether the elements of a section are independent, wherever they are written. */
export const isElementList = (key: string): boolean => elementLists.some((list) => list === key);

function* checkAllForVariables(
  tree: Readonly<Record<string, unknown>>,
  elements: readonly Element[],
  context: Reporting,
): Generator<undefined, void, undefined> {
  for (const [path, part] of partsOf(tree)) {
    yield;
    checkLiteralVariables(part, path, context);
  }
  for (const element of elements) {
    if (variableCheck.isPauseDue()) yield;
    const { root, document } = element;
    variableCheck.of(element, none, context, () => checkLiteralVariables(document, [root], context));
  }
}

/** Inputs of a step that needs the element alone. */
const none: readonly unknown[] = [];

const variableCheck = new ReusableStep<void>();

/** The elements of its lists are validated one by one, later. */
function judgeSettings(tree: Readonly<Record<string, unknown>>, context: Reporting): Settings | undefined {
  const settings = { ...tree };
  for (const list of elementLists) if (Array.isArray(settings[list])) settings[list] = [];
  const written = judge(settingsSchema, settings, [], context);
  if (written === undefined) return undefined;
  const [upstreams = [], models = [], projects = [], keys = [], routes = []] = elementLists.map((list) =>
    elementsAt(tree, list),
  );
  return { ...written, upstreams, models, projects, keys, routes };
}

function elementsAt(tree: Readonly<Record<string, unknown>>, list: ElementList): unknown[] {
  const elements = tree[list];
  return Array.isArray(elements) ? elements : [];
}

/** IDs, and the aliases of models. */
function* namesIn(
  written: readonly unknown[],
  owned: readonly Element[],
): Generator<undefined, Set<string>, undefined> {
  const names = new Set<string>();
  let count = 0;
  for (const list of [written, owned.map(({ document }) => document)]) {
    for (const element of list) {
      count += 1;
      if (count % lightAtOnce === 0) yield;
      if (!isMapping(element)) continue;
      const { id, aliases = [] } = element;
      if (typeof id === 'string') names.add(id);
      for (const alias of Array.isArray(aliases) ? aliases : [aliases]) if (typeof alias === 'string') names.add(alias);
    }
  }
  return names;
}

/** An element of the store with the ID of one in the file is a fault, and ignored. */
function withoutConflicts(elements: readonly Element[], written: Settings, context: Reporting): Element[] {
  const indexes = new Map<string, number>();
  if (elements.length > 0) {
    for (const list of elementLists) {
      for (const [index, element] of written[list].entries()) {
        const name = isMapping(element) && typeof element.id === 'string' ? `${list} ${element.id}` : '';
        if (!indexes.has(name)) indexes.set(name, index);
      }
    }
  }
  return elements.filter(({ kind, id, root, document }) => {
    const fault = (message: string): void => new Location(context, [root, 'id']).fault(message);
    if (document.id !== id) {
      fault(`is not the ID that it has in the store, which is ${JSON.stringify(id)}`);
      return false;
    }
    // Its keys are checked one by one.
    if (kind === 'setting') return true;
    const list = resourceLists[kind];
    const index = indexes.get(`${list} ${id}`);
    if (index === undefined) return true;
    fault(`${JSON.stringify(id)} ${inFileToo(new Location(context, [list, index, 'id']))}`);
    return false;
  });
}
