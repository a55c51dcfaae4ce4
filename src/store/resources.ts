/** Configuration elements in the database. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import { type Resource, type ResourceKind, type ResourceStore, resourceKinds } from '../core/store/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { timeSliced } from '../lib/time-slices.ts';
import type { Recorder } from './recording.ts';
import type { Schema } from './schema.ts';
import { StoreError } from './store-error.ts';
import { oneOf } from './stored-json.ts';

/** An index holds at most about 2,700 bytes. */
const longestIdBytes = 512;

/** Above this number of changes, all elements are read in one statement. */
const mostByName = 500;

export function createResourceStore(db: Kysely<Schema>, clock: Clock, recorder: Recorder): ResourceStore {
  const inOrder = () => db.selectFrom('resources').orderBy('created_at').orderBy('kind').orderBy('id');

  return {
    async list(known = []) {
      if (known.length === 0) return timeSliced(toResources(await inOrder().selectAll().execute()));
      const heads = await inOrder().select(['kind', 'id', 'version', 'created_at', 'updated_at']).execute();
      const found = await timeSliced(matching(heads, known));
      const changed = [...found].flatMap(([head, resource]) => (resource === undefined ? [head.id] : []));
      if (changed.length > mostByName) return timeSliced(toResources(await inOrder().selectAll().execute()));
      const rows =
        changed.length === 0 ? [] : await db.selectFrom('resources').selectAll().where('id', 'in', changed).execute();
      const fresh = new Map(rows.map((row) => [nameOf(row), row]));
      return [...found].flatMap(([head, resource]) => {
        const row = resource === undefined ? fresh.get(nameOf(head)) : undefined;
        return resource ?? (row === undefined ? [] : (toResource(row) ?? []));
      });
    },

    async get(kind, id) {
      const row = await db
        .selectFrom('resources')
        .selectAll()
        .where('kind', '=', kind)
        .where('id', '=', id)
        .executeTakeFirst();
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
          const inserted = await transaction
            .insertInto('resources')
            .values(made)
            .onConflict((conflict) => conflict.columns(['kind', 'id']).doNothing())
            .executeTakeFirst();
          // Another writer was first: the row is theirs.
          if (inserted.numInsertedOrUpdatedRows === 0n) {
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
            .where('kind', '=', kind)
            .where('id', '=', id)
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

const nameOf = ({ kind, id }: Pick<ResourceHead, 'kind' | 'id'>): string => `${kind} ${id}`;

/** Each with its known state; one that was deleted and created again has the same version and another time. */
function* matching(
  heads: readonly ResourceHead[],
  known: readonly Resource[],
): Generator<undefined, Map<ResourceHead, Resource | undefined>, undefined> {
  const byName = new Map(known.map((resource) => [nameOf(resource), resource]));
  const found = new Map<ResourceHead, Resource | undefined>();
  for (const head of heads) {
    yield;
    const one = byName.get(nameOf(head));
    const isSame =
      one?.version === head.version && one.createdAtMs === head.created_at && one.updatedAtMs === head.updated_at;
    found.set(head, isSame ? one : undefined);
  }
  return found;
}

function* toResources(rows: readonly ResourceRow[]): Generator<undefined, Resource[], undefined> {
  const resources: Resource[] = [];
  for (const row of rows) {
    yield;
    const resource = toResource(row);
    if (resource !== undefined) resources.push(resource);
  }
  return resources;
}

/** Reads the row and locks it until the transaction ends. An update that changes nothing does so in every database. */
function take(transaction: Transaction<Schema>, kind: ResourceKind, id: string): Promise<ResourceRow | undefined> {
  return transaction
    .updateTable('resources')
    .set((column) => ({ version: column.ref('version') }))
    .where('kind', '=', kind)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

function isExpected(row: ResourceRow | undefined, expected: number | undefined): boolean {
  return expected === undefined || expected === (row?.version ?? 0);
}

/** Undefined for a kind that only another version knows. */
function toResource(row: ResourceRow): Resource | undefined {
  const kind = oneOf(resourceKinds, row.kind);
  if (kind === undefined) return undefined;
  const document = readJson(row.document);
  if (!isMapping(document)) {
    throw new StoreError(`The ${kind} "${row.id}" in the store cannot be read; remove it and enter it anew.`);
  }
  const { id, version, created_at, updated_at } = row;
  return { kind, id, document, version, createdAtMs: created_at, updatedAtMs: updated_at };
}
