/** Plans the changes that make the store match a file, validated as a whole before anything is written. */

import { describeKeyTerms, toChange } from '../../config/elements/key/terms.ts';
import { keyWarnings } from '../../config/elements/key/warnings.ts';
import {
  type Difference,
  differencesOf,
  isSame,
  keyFaults,
  newFaults,
  sealElement,
  toPlain,
  writingOrder,
} from '../../config/store/resource-changes.ts';
import type { ResourceFile } from '../../config/store/resource-file.ts';
import { carries, type KeyToPut, locateKeys, type WantedKey } from '../../config/store/resource-keys.ts';
import type { Element } from '../../config/store/resources.ts';
import { hideSecrets, openDocument } from '../../config/store/sealed-fields.ts';
import type { KeyTerms } from '../../core/key.ts';
import type { KeyStore, StoredKey } from '../../core/store/keys.ts';
import type { Resource, ResourceKind } from '../../core/store/resources.ts';
import { UserFault } from '../../core/user-fault.ts';
import { systemClock } from '../../lib/clock.ts';
import type { KeyRing } from '../../lib/secrets/sealed.ts';
import { createReader, type OpenResources } from '../../serve/configuration.ts';
import { actor } from '../actions.ts';
import type { CommandContext } from '../command.ts';
import { FaultsFound } from '../output.ts';
import { readRing } from './secrets.ts';

interface Wanted {
  readonly file: ResourceFile;
  readonly keys: readonly WantedKey[];
  /** Metadata that an element must have to be deleted when it is not in the file; undefined: nothing is deleted. */
  readonly prune: ReadonlyMap<string, string> | undefined;
  readonly overlapMs: number;
}

interface Plan {
  readonly steps: readonly Step[];
  readonly warnings: readonly string[];
}

export async function planChanges(wanted: Wanted, ground: OpenResources, context: CommandContext): Promise<Plan> {
  const { file, keys, prune, overlapMs } = wanted;
  const { store, resources } = ground;
  const ring = await readRing(context, ground);
  const sealed = file.elements.map((one) => sealElement(one, ring, existing(one, resources)?.document));
  const elements = sealed.map(({ element }) => element);
  const surplus = prune === undefined ? [] : resources.filter((one) => isSurplus(one, prune, file));
  const staying = resources.filter((one) => !surplus.includes(one));
  const next = await createReader(context, ground.whole)(staying, elements);

  if (prune !== undefined) requirePruneMetadata(wanted, prune);
  const changes = elements
    .map((element) => ({ element, previous: existing(element, resources)?.document }))
    .filter(({ element, previous }) => previous === undefined || !isSame(element, previous, element.document, ring));
  const found = [
    ...sealed.flatMap(({ faults }) => faults),
    ...(await keyFaults(changes, store.health)),
    ...newFaults(ground.whole, next),
  ];
  if (found.length > 0) throw new FaultsFound([...found, ...file.faults()], next.file);
  // The projects are known only in a valid whole.
  if (!next.ok && file.keys.length > 0) throw new FaultsFound(next.faults, next.file);
  const storedKeys = await store.keys.list();
  const keysToPut = next.ok ? await locateKeys(keys, file.list, next, store.keys, storedKeys) : [];
  const surplusKeys = prune === undefined ? [] : findSurplusKeys(prune, file, storedKeys);
  const homeless = findHomeless(surplus, [...surplusKeys, ...keysToPut], storedKeys);
  const atFault = [...file.faults(), ...homeless];
  if (atFault.length > 0) throw new FaultsFound(atFault, next.file);

  const rank = ({ kind }: { readonly kind: Resource['kind'] }): number => writingOrder.indexOf(kind);
  return {
    steps: [
      ...elements.toSorted((a, b) => rank(a) - rank(b)).map((element) => elementStep(element, ground, ring)),
      ...keysToPut.map((key) => keyStep(key, overlapMs, store.keys)),
      ...surplusKeys.map((key) => revokeStep(key, store.keys)),
      ...surplus.toSorted((a, b) => rank(b) - rank(a)).map((resource) => removeStep(resource, ground)),
    ],
    warnings: next.ok ? [...next.warnings, ...keysToPut.flatMap((key) => warningsOf(key, next.snapshot))] : [],
  };
}

function warningsOf({ id, terms, before }: KeyToPut, snapshot: Parameters<typeof keyWarnings>[1]): string[] {
  const said = keyWarnings(terms, snapshot).map((warning) => `key ${id}: ${warning}`);
  if (before?.revokedAtMs === undefined) return said;
  return [...said, `key ${id}: is revoked permanently; remove it from the file`];
}

export const existing = (
  { kind, id }: Pick<Resource, 'kind' | 'id'>,
  resources: readonly Resource[],
): Resource | undefined => resources.find((one) => one.kind === kind && one.id === id);

function elementStep(element: Element, { resources, store }: OpenResources, ring: KeyRing | undefined): Step {
  const { kind, id, document } = element;
  const before = existing(element, resources);
  const name = { kind, id };
  if (before !== undefined && isSame(element, before.document, document, ring)) {
    const { version } = before;
    return { ...name, outcome: 'unchanged', version, differences: [], carryOut: async () => version };
  }
  const shown = (one: Element['document']) => ({
    real: toPlain(openDocument(name, one, ring, () => undefined)),
    shown: toPlain(hideSecrets(kind, one)),
  });
  return {
    ...name,
    outcome: before === undefined ? 'created' : 'changed',
    version: before?.version,
    differences: before === undefined ? [] : differencesOf(shown(before.document), shown(document)),
    async carryOut() {
      const put = await store.resources.put(kind, id, toPlain(document), { expected: before?.version ?? 0, actor });
      return put === 'conflict' ? refuseConflict(name) : put.version;
    },
  };
}

function removeStep({ kind, id, version }: Resource, { store }: OpenResources): Step {
  return {
    ...{ kind, id, outcome: 'deleted', version, differences: [] },
    async carryOut() {
      const removed = await store.resources.remove(kind, id, { expected: version, actor });
      return removed === 'conflict' ? refuseConflict({ kind, id }) : undefined;
    },
  };
}

function isSurplus({ kind, id, document }: Resource, prune: ReadonlyMap<string, string>, file: ResourceFile): boolean {
  return carries(document.metadata, prune) && !file.elements.some((one) => one.kind === kind && one.id === id);
}

function findSurplusKeys(
  prune: ReadonlyMap<string, string>,
  file: ResourceFile,
  storedKeys: readonly StoredKey[],
): StoredKey[] {
  const named = new Set(file.keys.map(({ id }) => id));
  return storedKeys.filter(
    ({ id, metadata, revokedAtMs }) => revokedAtMs === undefined && carries(metadata, prune) && !named.has(id),
  );
}

/** Refuses a file with elements that lack the metadata of `--prune`, because the next run would not find them again. */
function requirePruneMetadata({ file }: Wanted, prune: ReadonlyMap<string, string>): void {
  const inFile = [
    ...file.elements.flatMap(({ kind, document, file: source }) =>
      kind === 'setting' ? [] : [{ at: source?.at ?? [], document }],
    ),
    ...file.keys,
  ];
  const lacking = inFile.filter(({ document }) => !carries(document.metadata, prune));
  if (lacking.length === 0) return;
  const said = Array.from(prune, ([name, text]) => `${name}: ${text}`).join(', ');
  throw new FaultsFound(
    lacking.map(({ at }) => ({
      origin: file.name,
      path: `${at[0]}[${at[1]}].metadata`,
      ...file.locator.positionOf(at),
      message: `lacks the metadata of --prune (${said}); add it, or the next run would not prune this resource`,
    })),
    undefined,
  );
}

/** The keys that would lose their project, and with it its limits and budgets. */
function findHomeless(
  surplus: readonly Resource[],
  named: readonly Pick<StoredKey, 'id'>[],
  storedKeys: readonly StoredKey[],
) {
  const projects = new Set(surplus.flatMap(({ kind, id }) => (kind === 'project' ? [id] : [])));
  if (projects.size === 0) return [];
  const looked = new Set(named.map(({ id }) => id));
  const left = storedKeys.filter(
    ({ id, project = '', revokedAtMs }) => revokedAtMs === undefined && projects.has(project) && !looked.has(id),
  );
  return left.map(({ id, project }) => ({
    origin: `store: project ${JSON.stringify(project)}`,
    path: '',
    message: `cannot be pruned: the key ${id} belongs to it; revoke it, or move it with "postern keys update ${id} --project P"`,
  }));
}

function keyStep(key: KeyToPut, overlapMs: number, store: KeyStore): Step {
  const { id, name, terms, secret, before, isSecretNew } = key;
  const named = { kind: 'key', id } as const;
  if (before === undefined) {
    return {
      ...named,
      outcome: 'created',
      version: undefined,
      differences: [],
      carryOut: async () => secret && (await store.create({ id, name, ...terms, ...secret }, actor)).version,
    };
  }
  const differences = differencesOf(
    inWords(before.name, before, isSecretNew ? '(former)' : ''),
    inWords(name, terms, ''),
  );
  return {
    ...named,
    outcome: differences.length === 0 ? 'unchanged' : 'changed',
    version: before.version,
    differences,
    async carryOut() {
      if (differences.length === 0) return before.version;
      const change = { name, ...toChange(terms, () => true) };
      const changed = await store.changeVersion(id, before.version, change, actor);
      if (changed === 'conflict' || changed === undefined) return refuseConflict(named);
      if (!isSecretNew || secret === undefined) return changed.version;
      const rotated = await store.rotate(id, secret, systemClock.nowMs() + overlapMs, actor);
      return (rotated ?? refuseConflict(named)).version;
    },
  };
}

/** A key's settings in two forms: to compare, and to show, where a changed secret is only reported as changed. */
function inWords(name: string, terms: KeyTerms, secret: string) {
  const expires = terms.expiresAtMs === undefined ? undefined : new Date(terms.expiresAtMs).toISOString();
  const document = { name, ...describeKeyTerms(terms), expires };
  return { real: { ...document, secret }, shown: { ...document, secret: '(sealed)' } };
}

function revokeStep({ id, version }: StoredKey, store: KeyStore): Step {
  return {
    ...{ kind: 'key', id, outcome: 'revoked', version, differences: [] },
    async carryOut() {
      await store.revoke(id, actor);
      return undefined;
    },
  };
}

export interface Step {
  readonly kind: ResourceKind | 'key';
  readonly id: string;
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'deleted' | 'revoked';
  /** The present version in the store; undefined where there is none. */
  readonly version: number | undefined;
  readonly differences: readonly Difference[];
  /** Writes the change and returns the new version; undefined after a deletion. */
  carryOut(): Promise<number | undefined>;
}

function refuseConflict({ kind, id }: Pick<Step, 'kind' | 'id'>): never {
  throw new UserFault(
    `someone else changed ${kind} ${id} in the meantime; it and the elements after it are unchanged: apply again`,
  );
}
