/** Records for SQLite in which time slices the ledger has rows of each key, model and so on; indexes would cost more. */

import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import type { LedgerSliceTable, LedgerTable, Schema } from '../schema.ts';
import { withEach } from '../sqlite/sqlite-statements.ts';
import { compactColumns, epochMs, fromCompact, perMs } from './ledger-compact.ts';
import { createInsertOfEach, severalRows } from './ledger-insert.ts';
import { type NamedRow, type RowNames, toConditions } from './ledger-rows.ts';

/** A half-open time span; `toMs` may be Infinity. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Length of a slice: the rows of a busy slice can be scanned quickly, and many rows share a slice. */
const sliceMs = 1_024;

const sliceAt = (ms: number): number => Math.floor(ms / sliceMs);

export const slicedColumns = [
  ...['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status'],
  'started_at',
] as const;

/** Columns that slices record, the rarest first. Common values, such as status 200, are not recorded: time finds such rows as quickly. */
const kinds = ['outcome', 'status', 'key', 'model', 'project', 'upstream', 'operation'] as const;
type Kind = (typeof kinds)[number];
type SlicedRow = Pick<LedgerTable, Kind | 'started_at'>;
type SlicedNames = Pick<RowNames, Kind>;

const isCommon = (kind: Kind, name: string): boolean =>
  (kind === 'outcome' && name === 'ok') || (kind === 'status' && name === '200');

export function createInsertOfSlices(db: Kysely<Schema>) {
  const insert = createInsertOfEach(
    (slices: LedgerSliceTable[]) =>
      db
        .insertInto('ledger_slices')
        .values(slices)
        .onConflict((conflict) => conflict.doNothing())
        .compile(),
    Object.values,
    severalRows,
  );
  return (trx: Transaction<Schema>, named: NamesBySlice) => insert(trx, toSlices(named));
}

/** Deletes the slices of the oldest rows, which were deleted; the newest slice stays, as some of its rows may remain. */
export async function deleteSlices(trx: Transaction<Schema>, rows: readonly SlicedRow[]): Promise<void> {
  const slices = slicesOf(rows);
  const last = slices.reduce((newest, { slice }) => Math.max(newest, slice), 0);
  const left = await trx
    .selectFrom('ledger')
    .select(slicedColumns)
    .where(isInSlice(sql.lit(last)))
    .execute();
  const { rows: compact } = await sql<SlicedRow>`
    select ${compactColumns} from ${fromCompact} where ${isInSliceOfCompact(sql.lit(last))}`.execute(trx);
  const kept = new Set(slicesOf([...left, ...compact]).map(({ kind, name, slice }) => `${kind} ${slice} ${name}`));
  const gone = slices.filter(({ kind, name, slice }) => !kept.has(`${kind} ${slice} ${name}`));
  const lists = gone.map(({ kind, name, slice }) => [kind, name, slice]);
  const deletion = trx.deleteFrom('ledger_slices').where('kind', '=', '').where('name', '=', '').where('slice', '=', 0);
  await trx.executeQuery(withEach(deletion.compile(), lists));
}

/** The names that occur in each slice; many rows share one object of names. */
export type NamesBySlice = Map<number, Set<SlicedNames>>;

export function addToSlices(named: NamesBySlice, rows: readonly NamedRow[]): void {
  for (const { names, row } of rows) addTo(named, row.started_at, names);
}

function addTo(named: NamesBySlice, ms: number, names: SlicedNames): void {
  const slice = sliceAt(ms);
  const ofSlice = named.get(slice);
  if (ofSlice === undefined) named.set(slice, new Set([names]));
  else ofSlice.add(names);
}

function slicesOf(rows: readonly SlicedRow[]): LedgerSliceTable[] {
  const named: NamesBySlice = new Map();
  for (const row of rows) addTo(named, row.started_at, row);
  return toSlices(named);
}

/** A slice row for each value that occurs, whatever the number of rows; always the same columns in the same order. */
function toSlices(named: NamesBySlice): LedgerSliceTable[] {
  const slices: LedgerSliceTable[] = [];
  for (const [slice, all] of named) {
    for (const kind of kinds) {
      const seen = new Set<string>();
      for (const names of all) seen.add(String(names[kind] ?? ''));
      for (const name of seen) if (!isCommon(kind, name)) slices.push({ kind, name, slice });
    }
  }
  return slices;
}

function toKinds(filter: LedgerFilter): { kind: Kind; name: string }[] {
  const asked = new Map<Kind, string>(toConditions(filter).map(({ column, value }) => [column, value]));
  if (filter.status !== undefined) asked.set('status', String(filter.status));
  return kinds.flatMap((kind) => {
    const name = asked.get(kind);
    return name === undefined || isCommon(kind, name) ? [] : { kind, name };
  });
}

/** Conditions for slices that may hold matching rows; undefined where any slice may. */
export function toSliceConditions(filter: LedgerFilter, { fromMs, toMs }: Stretch): RawBuilder<boolean>[] | undefined {
  const [first, ...others] = toKinds(filter);
  if (first === undefined) return undefined;
  const conditions = [
    sql<boolean>`ledger_slices.kind = ${first.kind}`,
    sql<boolean>`ledger_slices.name = ${first.name}`,
    sql<boolean>`ledger_slices.slice >= ${sliceAt(fromMs)}`,
  ];
  if (Number.isFinite(toMs)) conditions.push(sql<boolean>`ledger_slices.slice <= ${sliceAt(toMs)}`);
  for (const { kind, name } of others) {
    conditions.push(sql<boolean>`exists (select 1 from ledger_slices as other
      where other.kind = ${kind} and other.name = ${name} and other.slice = ledger_slices.slice)`);
  }
  return conditions;
}

/** Condition for rows of a slice: their IDs begin with the time, in 12 hex digits. */
export const isInSlice = (slice: RawBuilder<unknown>) => sql<boolean>`
  ledger.id >= printf('%012x', ${slice} * ${sql.lit(sliceMs)})
  and ledger.id < printf('%012x', (${slice} + 1) * ${sql.lit(sliceMs)})`;

export const isInSliceOfCompact = (slice: RawBuilder<unknown>) => sql<boolean>`
  ledger_rows.seq >= ${seqOfSlice(slice)} and ledger_rows.seq < ${seqOfSlice(sql`(${slice} + 1)`)}`;

const seqOfSlice = (slice: RawBuilder<unknown>) =>
  sql`(${slice} * ${sql.lit(sliceMs)} - ${sql.lit(epochMs)}) * ${sql.lit(perMs)}`;
