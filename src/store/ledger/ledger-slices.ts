/**
 * In SQLite: in which slices of time the ledger has rows of a key, of a model and so on. It stands in place of an index for each: of
 * those every row changes pages all over the file, of this the first of a slice does.
 */

import { type Kysely, sql, type Transaction } from 'kysely';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import type { LedgerSliceTable, LedgerTable, Schema } from '../schema.ts';
import { withEach } from '../sqlite/sqlite-statements.ts';
import type { Stretch } from './ledger-days.ts';
import { createInsertOfEach, type Insert } from './ledger-insert.ts';
import { toConditions } from './ledger-rows.ts';

/** Narrow enough that the rows of a busy one are soon looked through, and wide enough that many rows share it. */
const sliceMs = 1_024;

const sliceAt = (ms: number): number => Math.floor(ms / sliceMs);

/** What of a row slices are kept of. */
export const slicedColumns = [
  ...['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status'],
  'started_at',
] as const;

/** Those that are seldom first. What nearly every row has is found by time as quickly, and there is nothing of it. */
const kinds = ['outcome', 'status', 'key', 'model', 'project', 'upstream', 'operation'] as const;
type Kind = (typeof kinds)[number];
type SlicedRow = Pick<LedgerTable, Kind | 'started_at'>;

const isCommon = (kind: Kind, name: string): boolean =>
  (kind === 'outcome' && name === 'ok') || (kind === 'status' && name === '200');

export function createInsertOfSlices(db: Kysely<Schema>): Insert<SlicedRow, unknown> {
  const insert = createInsertOfEach((slice: LedgerSliceTable) =>
    db
      .insertInto('ledger_slices')
      .values(slice)
      .onConflict((conflict) => conflict.doNothing())
      .compile(),
  );
  return (trx, rows) => insert(trx, toSlices(rows));
}

/** Those of rows that were deleted, the oldest there were; the newest slice keeps what of it is left. */
export async function deleteSlices(trx: Transaction<Schema>, rows: readonly SlicedRow[]): Promise<void> {
  const slices = toSlices(rows);
  const last = slices.reduce((newest, { slice }) => Math.max(newest, slice), 0);
  const left = await trx
    .selectFrom('ledger')
    .select(slicedColumns)
    .where(isIn(sql.lit(last)))
    .execute();
  const kept = new Set(toSlices(left).map(({ kind, name, slice }) => `${kind} ${slice} ${name}`));
  const gone = slices.filter(({ kind, name, slice }) => !kept.has(`${kind} ${slice} ${name}`));
  const lists = gone.map(({ kind, name, slice }) => [kind, name, slice]);
  const deletion = trx.deleteFrom('ledger_slices').where('kind', '=', '').where('name', '=', '').where('slice', '=', 0);
  await trx.executeQuery(withEach(deletion.compile(), lists));
}

/** Each once, whatever the number of rows; always with the same columns in the same order. */
function toSlices(rows: readonly SlicedRow[]): LedgerSliceTable[] {
  const bySlice = new Map<number, Map<Kind, Set<string>>>();
  let latest: number | undefined;
  let names = new Map<Kind, Set<string>>();
  for (const row of rows) {
    const slice = sliceAt(row.started_at);
    // Rows mostly come in the order of their time.
    if (slice !== latest) {
      names = bySlice.get(slice) ?? new Map(kinds.map((kind) => [kind, new Set<string>()]));
      bySlice.set(slice, names);
      latest = slice;
    }
    for (const kind of kinds) names.get(kind)?.add(String(row[kind] ?? ''));
  }
  return [...bySlice].flatMap(([slice, ofSlice]) =>
    [...ofSlice].flatMap(([kind, all]) =>
      [...all].filter((name) => !isCommon(kind, name)).map((name) => ({ kind, name, slice })),
    ),
  );
}

/** What a filter asks for that slices know. */
function toKinds(filter: LedgerFilter): { kind: Kind; name: string }[] {
  const asked = new Map<Kind, string>(toConditions(filter).map(({ column, value }) => [column, value]));
  if (filter.status !== undefined) asked.set('status', String(filter.status));
  return kinds.flatMap((kind) => {
    const name = asked.get(kind);
    return name === undefined || isCommon(kind, name) ? [] : { kind, name };
  });
}

/** The rows of the slices that may hold some that fit, to be read from the newest to the oldest; undefined where any slice may. */
export function selectFromSlices(db: Kysely<Schema>, filter: LedgerFilter, { fromMs, toMs }: Stretch) {
  const [first, ...others] = toKinds(filter);
  if (first === undefined) return undefined;
  // SQLite goes from the left to the right of a cross join: through the slices, and through the rows of each.
  let query = db
    .selectFrom('ledger_slices')
    .crossJoin('ledger')
    .where('ledger_slices.kind', '=', first.kind)
    .where('ledger_slices.name', '=', first.name)
    .where('ledger_slices.slice', '>=', sliceAt(fromMs))
    .where(isIn(sql.ref('ledger_slices.slice')));
  if (Number.isFinite(toMs)) query = query.where('ledger_slices.slice', '<=', sliceAt(toMs));
  for (const { kind, name } of others) {
    query = query.where(({ exists, selectFrom }) =>
      exists(
        selectFrom('ledger_slices as other')
          .select('other.slice')
          .where('other.kind', '=', kind)
          .where('other.name', '=', name)
          .whereRef('other.slice', '=', 'ledger_slices.slice'),
      ),
    );
  }
  return query.orderBy('ledger_slices.slice', 'desc').selectAll('ledger');
}

/** IDs begin with the time, in 12 hex digits. */
const isIn = (slice: ReturnType<typeof sql.ref>) => sql<boolean>`
  ledger.id >= printf('%012x', ${slice} * ${sql.lit(sliceMs)})
  and ledger.id < printf('%012x', (${slice} + 1) * ${sql.lit(sliceMs)})`;
