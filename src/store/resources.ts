/** Stores configuration elements in the database. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import { type Resource, type ResourceKind, type ResourceStore, resourceKinds } from '../core/store/resources.ts';
import type { Change, ChangeFeed } from '../core/store/store.ts';
import type { Clock } from '../lib/clock.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { inBackground } from '../lib/time-slices.ts';
import { fromRow } from './columns.ts';
import { insertNew } from './ledger/ledger-insert.ts';
import type { Recorder } from './recording.ts';
import type { Schema } from './schema.ts';
import { StoreError } from './store-error.ts';
import { oneOf } from './stored-json.ts';

/** Longest ID, as an index holds at most about 2,700 bytes. */
const longestIdBytes = 512;

/** Above this number of changes, all elements are read in one statement. */
const mostByName = 500;

interface ResourceStoreDeps {
  readonly db: Kysely<Schema>;
  readonly clock: Clock;
  readonly recorder: Recorder;
  readonly changes: Pick<ChangeFeed, 'latest' | 'since'>;
}

interface Kept {
  readonly resources: readonly Resource[];
  /** The last change that the elements contain. */
  readonly change: Change | undefined;
}

export function createResourceStore({ db, clock, recorder, changes }: ResourceStoreDeps): ResourceStore {
  const inOrder = () => db.selectFrom('resources').orderBy('created_at').orderBy('kind').orderBy('id');
  let kept: Kept | undefined;
  // One after another: each continues where the one before ended.
  let reading: Promise<unknown> = Promise.resolve();

  async function readOn(): Promise<readonly Resource[]> {
    const found = kept && (await changedSince(kept.change));
    if (kept === undefined || found === undefined) kept = await readAll(kept?.resources ?? []);
    else kept = { resources: await withChanged(kept.resources, found.names), change: found.change };
    return kept.resources;
  }

  /** The elements changed since a known change; undefined where changes were lost, or are too many. */
  async function changedSince(known: Change | undefined) {
    const names = new Set<string>();
    let change = known;
    for (;;) {
      const found = await changes.since(change);
      if (found?.length === 0) return { names, change };
      for (const { kind, id } of found ?? []) if (kind === 'resource') names.add(id);
      if (found === undefined || names.size > mostByName) return undefined;
      change = found.at(-1);
    }
  }

  async function withChanged(known: readonly Resource[], names: ReadonlySet<string>): Promise<readonly Resource[]> {
    if (names.size === 0) return known;
    const ids = new Set([...names].map((name) => name.slice(name.indexOf('/') + 1)));
    const rows = await db
      .selectFrom('resources')
      .selectAll()
      .where('id', 'in', [...ids])
      .execute();
    const resources = known.filter((one) => !ids.has(one.id) || !names.has(feedNameOf(one)));
    for (const row of rows) {
      const changed = names.has(feedNameOf(row)) ? toResource(row) : undefined;
      if (changed === undefined) continue;
      resources.splice(resources.findLastIndex((one) => isBefore(one, changed)) + 1, 0, changed);
    }
    return resources;
  }

  /** Reads all elements, but not the documents of known ones that have not changed. */
  async function readAll(known: readonly Resource[]): Promise<Kept> {
    // The last change first, so that none between the two is missed.
    const change = await changes.latest();
    if (known.length === 0) return { resources: await readEach(), change };
    const heads = await inOrder().select(['kind', 'id', 'version', 'created_at', 'updated_at']).execute();
    const byName = new Map(known.map((resource) => [feedNameOf(resource), resource]));
    const found = await inBackground.inSlices(heads, (head) => {
      const one = byName.get(feedNameOf(head));
      return [head, one !== undefined && isSame(head, one) ? one : undefined] as const;
    });
    const changed = found.flatMap(([head, resource]) => (resource === undefined ? [head.id] : []));
    if (changed.length > mostByName) return { resources: await readEach(), change };
    const rows =
      changed.length === 0 ? [] : await db.selectFrom('resources').selectAll().where('id', 'in', changed).execute();
    const fresh = new Map(rows.map((row) => [feedNameOf(row), row]));
    const resources = found.flatMap(([head, resource]) => {
      const row = resource === undefined ? fresh.get(feedNameOf(head)) : undefined;
      return resource ?? (row === undefined ? [] : (toResource(row) ?? []));
    });
    return { resources, change };
  }

  async function readEach(): Promise<Resource[]> {
    const rows = await inOrder().selectAll().execute();
    return (await inBackground.inSlices(rows, toResource)).filter((one) => one !== undefined);
  }

  return {
    list() {
      const read = reading.then(readOn);
      reading = read.catch(() => undefined);
      return read;
    },

    async get(kind, id) {
      const named = db.selectFrom('resources').where((is) => is.and({ kind, id }));
      const row = await named.selectAll().executeTakeFirst();
      return row && toResource(row);
    },

    async put(kind, id, document, { expected, actor }) {
      if (Buffer.byteLength(id) > longestIdBytes) {
        throw new StoreError(`The ID of the ${kind} is longer than ${longestIdBytes} bytes; make it shorter.`);
      }
      return recorder.write(actor, async (transaction, trace) => {
        const nowMs = clock.nowMs();
        const text = JSON.stringify(document);
        const made = { kind, id, document: text, version: 1, created_at: nowMs, updated_at: nowMs };
        let before = await take(transaction, kind, id);
        if (!isExpected(before, expected)) return 'conflict';
        if (before === undefined) {
          const isNew = (await insertNew(transaction, 'resources', [made])) === 1;
          // Another writer inserted the element first.
          if (!isNew) {
            before = await take(transaction, kind, id);
            if (before === undefined || !isExpected(before, expected)) return 'conflict';
          }
        }
        const after =
          before === undefined ? made : { ...before, document: text, version: before.version + 1, updated_at: nowMs };
        if (before !== undefined) {
          await transaction
            .updateTable('resources')
            .set({ document: after.document, version: after.version, updated_at: after.updated_at })
            .where((is) => is.and({ kind, id }))
            .execute();
        }
        await trace({
          changed: { kind: 'resource', id: `${kind}/${id}` },
          action: `${kind}.put`,
          subject: id,
          before: before === undefined ? null : readJson(before.document),
          after: document,
        });
        return { kind, id, document, version: after.version, createdAtMs: after.created_at, updatedAtMs: nowMs };
      });
    },

    remove: (kind, id, { expected, actor }) =>
      recorder.write(actor, async (transaction, trace) => {
        const before = await take(transaction, kind, id);
        if (before === undefined) return 'absent';
        if (!isExpected(before, expected)) return 'conflict';
        await transaction.deleteFrom('resources').where('kind', '=', kind).where('id', '=', id).execute();
        await trace({
          changed: { kind: 'resource', id: `${kind}/${id}` },
          action: `${kind}.remove`,
          subject: id,
          before: readJson(before.document),
          after: null,
        });
        return 'removed';
      }),
  };
}

type ResourceRow = Selectable<Schema['resources']>;
type ResourceHead = Omit<ResourceRow, 'document'>;

const feedNameOf = ({ kind, id }: Pick<ResourceHead, 'kind' | 'id'>): string => `${kind}/${id}`;

/** Whether an element is unchanged. One that was deleted and created again may have the same version, but has another time. */
const isSame = ({ version, created_at, updated_at }: ResourceHead, one: Resource): boolean =>
  one.version === version && one.createdAtMs === created_at && one.updatedAtMs === updated_at;

function isBefore(one: Resource, other: Resource): boolean {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs < other.createdAtMs;
  return one.kind === other.kind ? one.id < other.id : one.kind < other.kind;
}

/** Reads an element's row and locks it until the transaction ends. In every database, an update that changes nothing locks the row. */
function take(transaction: Transaction<Schema>, kind: ResourceKind, id: string): Promise<ResourceRow | undefined> {
  return transaction
    .updateTable('resources')
    .set((column) => ({ version: column.ref('version') }))
    .where((is) => is.and({ kind, id }))
    .returningAll()
    .executeTakeFirst();
}

function isExpected(row: ResourceRow | undefined, expected: number | undefined): boolean {
  return expected === undefined || expected === (row?.version ?? 0);
}

/** The element of a row; undefined for a kind that only another version knows. */
function toResource(row: ResourceRow): Resource | undefined {
  const kind = oneOf(resourceKinds, row.kind);
  if (kind === undefined) return undefined;
  const document = readJson(row.document);
  if (!isMapping(document)) {
    throw new StoreError(`The ${kind} "${row.id}" in the store cannot be read; remove it and enter it anew.`);
  }
  return { ...fromRow(row), kind, document };
}
