/** Stores in the database which objects upstreams store for clients: one row each, found by ID. */

import type { Kysely, Selectable } from 'kysely';
import {
  isStoredId,
  type StoredKind,
  type StoredObject,
  type StoredObjectStore,
} from '../core/store/stored-objects.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { toRequestEstimate } from './background-answers.ts';
import { fromRow, toRow } from './columns.ts';
import { inParts, insertNew } from './ledger/ledger-insert.ts';
import type { Schema } from './schema.ts';

const rowsAtOnce = 100;
const idsAtOnce = 500;
const prunedAtOnce = 2_000;

/** Creates the store. `quick`: the connections for statements that a request waits for. */
export function createStoredObjectStore(db: Kysely<Schema>, quick: Kysely<Schema>): StoredObjectStore {
  return {
    async add(objects) {
      for (const some of inParts(objects, rowsAtOnce)) await insertNew(quick, 'kept_objects', some.map(toObjectRow));
    },

    async find(names) {
      const kinds = new Map<string, Set<StoredKind>>();
      for (const { kind, id } of names) {
        if (isStoredId(id)) kinds.set(id, (kinds.get(id) ?? new Set<StoredKind>()).add(kind));
      }
      const found: StoredObject[] = [];
      for (const ids of inParts([...kinds.keys()], idsAtOnce)) {
        const rows = await quick.selectFrom('kept_objects').selectAll().where('id', 'in', ids).execute();
        for (const row of rows) if (kinds.get(row.id)?.has(row.kind) === true) found.push(toObject(row));
      }
      return found.sort((a, b) => b.createdAtMs - a.createdAtMs);
    },

    async page(owner, kind, { order, after, limit }) {
      let query = quick
        .selectFrom('kept_objects')
        .selectAll()
        .where('kind', '=', kind)
        .where('owner', '=', owner)
        .orderBy('created_at', order)
        .orderBy('id', order)
        .limit(limit);
      if (after !== undefined) {
        const { createdAtMs, id } = after;
        const beyond = order === 'asc' ? '>' : '<';
        query = query.where(({ eb, and, or }) =>
          or([eb('created_at', beyond, createdAtMs), and([eb('created_at', '=', createdAtMs), eb('id', beyond, id)])]),
        );
      }
      return (await query.execute()).map(toObject);
    },

    async describe({ kind, id, upstream }, document) {
      await quick
        .updateTable('kept_objects')
        .set({ document })
        .where((is) => is.and({ id, kind, upstream }))
        .execute();
    },

    async remove({ kind, id, upstream }) {
      await quick
        .deleteFrom('kept_objects')
        .where((is) => is.and({ id, kind, upstream }))
        .execute();
    },

    async prune(beforeMs) {
      const { numDeletedRows } = await db
        .deleteFrom('kept_objects')
        .where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple('id', 'kind', 'upstream'),
            'in',
            selectFrom('kept_objects')
              .select(['id', 'kind', 'upstream'])
              .where('created_at', '<', beforeMs)
              // Files stay until deleted.
              .where('kind', '!=', 'file')
              .orderBy('created_at')
              .limit(prunedAtOnce)
              .$asTuple('id', 'kind', 'upstream'),
          ),
        )
        .executeTakeFirstOrThrow();
      return Number(numDeletedRows);
    },
  };
}

type Row = Selectable<Schema['kept_objects']>;

function toObjectRow({ input, ...object }: StoredObject): Row {
  // The column of the estimate is `asking`.
  const written = input && { model: input.model, upstreamModel: input.upstreamModel, asking: input.estimate };
  return { ...toRow({ document: undefined, ...object, input: written }), kind: object.kind };
}

function toObject({ kind, document, input, ...row }: Row): StoredObject {
  const asked = input === null ? {} : toInput(readJson(input));
  return { ...fromRow(row), kind, ...(document !== null && { document }), ...asked };
}

/** What a batch's input file requests; undefined where another version wrote it differently, and so may have checked it differently. */
function toInput(value: unknown): Pick<StoredObject, 'input'> {
  if (!isMapping(value)) return {};
  const { model, upstreamModel } = value;
  const estimate = toRequestEstimate(value.asking);
  const { batch } = estimate;
  if (typeof model !== 'string' || typeof upstreamModel !== 'string' || batch === undefined) return {};
  const unbounded = isMapping(value.asking) ? value.asking.unbounded : undefined;
  return {
    input: {
      model,
      upstreamModel,
      estimate: { ...estimate, batch, ...(typeof unbounded === 'string' && { unbounded }) },
    },
  };
}
