/** Creates the editor that shows, checks and writes upstreams, models, projects and settings in the store. */

import type { FieldFault } from '../../core/field-fault.ts';
import type { Log } from '../../core/log.ts';
import type {
  ConfiguredElement,
  Conflict,
  ElementDocument,
  Preview,
  PutOutcome,
  RemoveOutcome,
  ResourceEditor,
} from '../../core/resource-editor.ts';
import type { ChangeOptions, Resource, ResourceKind } from '../../core/store/resources.ts';
import type { Store } from '../../core/store/store.ts';
import { inShort } from '../../lib/in-short.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { type KeyRing, SecretKeyError } from '../../lib/secrets/sealed.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';
import { inBackground } from '../../lib/time-slices.ts';
import type { FaultyConfiguration, LoadedConfiguration } from '../load.ts';
import type { Fault } from '../read/faults.ts';
import type { DeclaredElement } from './declared.ts';
import { isSame, keyFaults, newFaults, sealElement, toPlain } from './resource-changes.ts';
import { type Element, toNewElement } from './resources.ts';
import { hideSecrets } from './sealed-fields.ts';
import { findKeyRing, keyFileOf, makeKeyFile, readKeyRing, type SecretKeySource } from './secret-key.ts';

type Whole = LoadedConfiguration | FaultyConfiguration;

export interface ResourceEditorDeps {
  readonly store: Store;
  current(): LoadedConfiguration;
  load(resources: readonly Resource[], added?: readonly Element[]): Promise<Whole>;
  readonly secrets: Omit<SecretKeySource, 'store'>;
  readonly log: Pick<Log, 'warn'>;
}

/** The facts of elements that are not in the store, and so have no version. */
const unversioned = { version: undefined, updatedAtMs: undefined, inForce: true };

const sent = 'what was sent';

export function createResourceEditor({ store, current, load, secrets, log }: ResourceEditorDeps): ResourceEditor {
  const keySource = (): SecretKeySource => ({ ...secrets, store: current().snapshot.store });

  async function list(kind: ResourceKind): Promise<readonly ConfiguredElement[]> {
    const { resources } = await readStored(kind);
    const declared = await current().declared();
    return inBackground.timeSliced(listing(kind, declared, resources));
  }

  function* listing(kind: ResourceKind, declared: readonly DeclaredElement[], stored: readonly Resource[]) {
    const found = new Map<string, ConfiguredElement>();
    for (const one of declared) {
      yield;
      if (one.kind === kind) found.set(one.id, fromFile(one));
    }
    const running = new Map(current().resources.flatMap((one) => (one.kind === kind ? [[one.id, one] as const] : [])));
    for (const one of stored) {
      yield;
      if (one.kind === kind && !found.has(one.id)) found.set(one.id, fromStore(one, running.get(one.id)));
    }
    for (const one of kind === 'model' ? builtIn(declared) : []) if (!found.has(one.id)) found.set(one.id, one);
    return [...found.values()];
  }

  async function get(kind: ResourceKind, id: string): Promise<ConfiguredElement | undefined> {
    const ofFile = await managedElsewhere(kind, id);
    if (ofFile !== undefined) return ofFile;
    const stored = await store.resources.get(kind, id);
    const running = current().resources.find((one) => one.kind === kind && one.id === id);
    if (stored !== undefined) return fromStore(stored, running);
    return kind === 'model' ? builtIn(await current().declared()).find((one) => one.id === id) : undefined;
  }

  async function readStored(kind: ResourceKind, id?: string) {
    const resources = await store.resources.list();
    return { resources, previous: resources.find((one) => one.kind === kind && one.id === id) };
  }

  function fromFile({ kind, id, place, document }: DeclaredElement): ConfiguredElement {
    const isEmbedded = current().file === undefined && place === undefined;
    return {
      kind,
      id,
      managedBy: isEmbedded ? 'embedded' : 'file',
      place,
      ...unversioned,
      // Computed on demand: of thousands in a list, few are shown.
      get document() {
        return toPlain(document);
      },
    };
  }

  function fromStore(
    { kind, id, version, updatedAtMs, document }: Resource,
    running: Resource | undefined,
  ): ConfiguredElement {
    return {
      kind,
      id,
      managedBy: 'store',
      place: undefined,
      version,
      updatedAtMs,
      inForce: running?.version === version,
      get document() {
        return toPlain(hideSecrets(kind, document));
      },
    };
  }

  function builtIn(declared: readonly DeclaredElement[]): ConfiguredElement[] {
    const { snapshot } = current();
    return snapshot.models.all.flatMap(({ id, operations, targets: [{ upstream, model }] }): ConfiguredElement[] => {
      if (!(upstream.family.builtIn ?? []).some((one) => one.id === id)) return [];
      return [
        {
          kind: 'model',
          id,
          managedBy: 'built-in',
          place: declared.find((one) => one.kind === 'upstream' && one.id === upstream.id)?.place,
          ...unversioned,
          document: { id, operations: [...operations], targets: [{ upstream: upstream.id, model }] },
        },
      ];
    });
  }

  async function managedElsewhere(kind: ResourceKind, id: string): Promise<ConfiguredElement | undefined> {
    const declared = await current().declared();
    const found = declared.find((one) => one.kind === kind && one.id === id);
    return found && fromFile(found);
  }

  async function judge(resources: readonly Resource[], element: Element, previous: Resource | undefined) {
    // Unchanged, except for `(sealed)`: a key is created once there is something to encrypt.
    const ring = await findKeyRing(keySource());
    const opened = sealElement(element, asItIs(ring), previous?.document);
    const next = await load(resources, [opened.element]);
    const faults = [...opened.faults];
    if (!next.ok) faults.push(...newFaults(await load(resources), next));
    if (ring === undefined && keyFileOf(keySource()) === undefined) {
      faults.push(...sealElement(element, undefined, previous?.document).faults);
    }
    return {
      faults: faults.map((fault) => toFieldFault(fault, next.file)),
      warnings: warningsFor(element, next),
      snapshot: next.ok ? next.snapshot : undefined,
    };
  }

  /** The keys to encrypt an element. One is created beside the database if needed, so that the first credential needs no preparation. */
  async function ringFor(element: Element, previous: Resource | undefined) {
    const ring = await readKeyRing(keySource());
    const file = keyFileOf(keySource());
    const isNeeded = sealElement(element, undefined, previous?.document).faults.length > 0;
    if (ring !== undefined || file === undefined || !isNeeded) return { ring, warning: undefined };
    const made = await makeKeyFile(file);
    const warning = `a key for the secrets in the store was made at ${file}: keep a copy of it, and not beside the copies of the database; where several machines serve, set POSTERN_SECRET_KEY instead`;
    log.warn('secrets key created', { warning });
    return { ring: made, warning };
  }

  let writing: Promise<unknown> = Promise.resolve();

  /** Runs one write after another: each is judged against the result of the one before, so that two together make no faulty whole. */
  function inOrder<T>(write: () => Promise<T>): Promise<T> {
    const written = writing.then(write);
    writing = written.catch(() => undefined);
    return written;
  }

  async function put(
    kind: ResourceKind,
    id: string,
    document: ElementDocument,
    { expected, actor }: ChangeOptions,
  ): Promise<PutOutcome> {
    const elsewhere = await managedElsewhere(kind, id);
    if (elsewhere !== undefined) return { outcome: 'managed-elsewhere', element: elsewhere };
    const { resources, previous } = await readStored(kind, id);
    const version = previous?.version ?? 0;
    if (expected !== undefined && expected !== version) return conflict(kind, id, version);

    const element = toElement(kind, id, document, previous);
    const { faults, warnings } = await judge(resources, element, previous);
    if (faults.length > 0) return { outcome: 'faulty', faults };
    try {
      const { ring, warning } = await ringFor(element, previous);
      const sealed = sealElement(element, ring, previous?.document);
      if (sealed.faults.length > 0) return faulty(sealed.faults);
      const all = warning === undefined ? warnings : [...warnings, warning];
      const next = sealed.element.document;
      if (previous !== undefined && isSame(element, previous.document, next, ring)) {
        return { outcome: 'unchanged', version, warnings: all };
      }
      const lacking = await keyFaults([{ element: sealed.element, previous: previous?.document }], store.health);
      if (lacking.length > 0) return faulty(lacking);
      const written = await store.resources.put(kind, id, toPlain(next), { expected: version, actor });
      if (written === 'conflict') return conflict(kind, id, await versionOf(kind, id));
      return { outcome: previous === undefined ? 'created' : 'changed', version: written.version, warnings: all };
    } catch (error) {
      if (error instanceof SecretKeyError) return { outcome: 'faulty', faults: [{ path: '', message: error.message }] };
      throw error;
    }
  }

  async function preview(kind: ResourceKind, id: string, document: ElementDocument): Promise<Preview> {
    const { resources, previous } = await readStored(kind, id);
    const { faults, warnings, snapshot } = await judge(resources, toElement(kind, id, document, previous), previous);
    return faults.length > 0 ? { outcome: 'faulty', faults } : { outcome: 'fine', warnings, snapshot };
  }

  async function remove(kind: ResourceKind, id: string, { expected, actor }: ChangeOptions): Promise<RemoveOutcome> {
    const { resources, previous } = await readStored(kind, id);
    if (previous === undefined) {
      const element = await get(kind, id);
      return element === undefined ? { outcome: 'absent' } : { outcome: 'managed-elsewhere', element };
    }
    if (expected !== undefined && expected !== previous.version) return conflict(kind, id, previous.version);
    const next = await load(resources.filter((one) => one !== previous));
    const reasons = (next.ok ? [] : newFaults(await load(resources), next)).map((fault) => inWords(fault, next.file));
    const keys = kind === 'project' ? await keysIn(id, store) : undefined;
    if (keys !== undefined) reasons.push(`it has keys: ${keys}; revoke them, or move them to another project`);
    if (reasons.length > 0) return { outcome: 'needed', reasons };
    const removed = await store.resources.remove(kind, id, { expected: previous.version, actor });
    if (removed === 'conflict') return conflict(kind, id, await versionOf(kind, id));
    return { outcome: removed };
  }

  const versionOf = async (kind: ResourceKind, id: string): Promise<number> =>
    (await store.resources.get(kind, id))?.version ?? 0;

  async function conflict(kind: ResourceKind, id: string, version: number): Promise<Conflict> {
    const [last] = await store.audit.page({ subject: id, action: `${kind}.`, limit: 1 });
    return { outcome: 'conflict', version, by: last && { actor: last.actor, atMs: last.atMs } };
  }

  return {
    list,
    get,
    put: (...change) => inOrder(() => put(...change)),
    preview,
    remove: (...change) => inOrder(() => remove(...change)),
  };
}

/** The IDs of the project's unrevoked keys, as a sentence; undefined where it has none. Without the project they would lose its caps. */
export async function keysIn(project: string, { keys }: Pick<Store, 'keys'>): Promise<string | undefined> {
  const members = (await keys.list()).filter((key) => key.project === project && key.revokedAtMs === undefined);
  if (members.length === 0) return undefined;
  return inShort(members.map(({ id }) => id));
}

/** A key ring for a preview, which encrypts nothing; secrets that moved to another field are decrypted. */
const asItIs = (ring: KeyRing | undefined): KeyRing => ({
  sealingKeyId: '',
  keyIds: [],
  seal: (plain) => plain,
  unseal: (text, location) => ring?.unseal(text, location) ?? { kind: 'damaged' },
});

function toElement(kind: ResourceKind, id: string, written: ElementDocument, previous: Resource | undefined): Element {
  const document = Object.fromEntries(
    Object.entries(written).map(([key, value]) => [key, withKeptTexts(value, previous?.document[key])]),
  );
  const file = { name: sent, at: [], positionOf: () => undefined };
  return toNewElement({ kind, id }, { ...document, id: document.id ?? id }, file);
}

/** The new value, in which each masked text that was sent back unchanged is replaced by the stored one. */
function withKeptTexts(value: unknown, before: unknown): unknown {
  if (typeof value === 'string') return typeof before === 'string' && value === withMasks(before) ? before : value;
  if (Array.isArray(value)) {
    return value.map((item, index) => withKeptTexts(item, Array.isArray(before) ? before[index] : undefined));
  }
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withKeptTexts(item, isMapping(before) ? before[key] : undefined)]),
  );
}

/** A fault for the form that was sent: with the path in it, or for another element with its name in the message. */
function toFieldFault(fault: Fault, file: string | undefined): FieldFault {
  return fault.origin === sent
    ? { path: fault.path, message: fault.message }
    : { path: '', message: inWords(fault, file) };
}

const faulty = (faults: readonly Fault[]) =>
  ({ outcome: 'faulty', faults: faults.map((fault) => toFieldFault(fault, undefined)) }) as const;

function inWords({ origin, path, line, message }: Fault, file: string | undefined): string {
  const [, kind, id] = /^store: (\w+) (".*") \(version \d+\)$/.exec(origin ?? '') ?? [];
  const where =
    kind === undefined
      ? `${origin ?? file ?? 'the configuration'}${line === undefined ? '' : `, line ${line}`}`
      : `the ${kind} ${id}`;
  return `${where}: ${path === '' ? '' : `${path} `}${message}`;
}

function warningsFor({ root }: Element, next: Whole): string[] {
  if (!next.ok) {
    const [first] = next.faults;
    const why = first === undefined ? '' : `: ${inWords(first, next.file)}`;
    return [`it is kept, and not in force before other faults are fixed${why}`];
  }
  const shown = withMasks(root);
  return next.warnings.flatMap((warning) =>
    warning.startsWith(shown) ? [warning.slice(shown.length).replace(/^[: ]+/, '')] : [],
  );
}
