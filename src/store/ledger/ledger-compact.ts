/** Stores SQLite's ledger rows as compact numbers in time order. Rows that do not fit, and older ones, are in `ledger`; both tables are read. */

import type { SQLInputValue } from 'node:sqlite';
import { CompiledQuery, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { ImportedRow } from '../../core/store/ledger.ts';
import { pick } from '../../lib/record-of.ts';
import type { LedgerSharedTable, LedgerTable, Schema } from '../schema.ts';
import { createInsertOfEach, type Insert, severalRows } from './ledger-insert.ts';
import {
  dayMs,
  firstIdOf,
  idDigitsOfTime,
  isId,
  ledgerColumns,
  type NamedRow,
  type RowFigures,
  toFigures,
  toNames,
  toTimeOf,
} from './ledger-rows.ts';
import { SharedValues } from './ledger-shared.ts';

/** `seq` counts milliseconds from this moment, followed by 13 bits of the ID's random part; a JavaScript number holds it exactly. */
export const epochMs = Date.UTC(2020, 0, 1);
export const perMs = 2 ** 13;
const endMs = epochMs + 2 ** 40;
/** Hex digits of the ID's random part that are read; their upper 13 bits are in `seq`. */
const digits = 4;
const spareBits = 3;

/** The smallest `seq` of rows that began at `ms` or later, where `ms` is rounded up to whole milliseconds. */
export const firstSeqOf = (ms: number): number => (Math.ceil(Math.min(Math.max(ms, epochMs), endMs)) - epochMs) * perMs;

/** The `seq` of an ID; undefined where the ID cannot be represented as one. */
export function toSeq(id: string): number | undefined {
  return isId(id) ? seqAt(toTimeOf(id), id) : undefined;
}

function seqAt(ms: number, id: string): number | undefined {
  if (!(ms >= epochMs && ms < endMs)) return undefined;
  const chance = Number.parseInt(id.slice(idDigitsOfTime, idDigitsOfTime + digits), 16);
  return (ms - epochMs) * perMs + (chance >> spareBits);
}

export const toRest = (id: string): string => id.slice(idDigitsOfTime);

const startedAt = sql`(ledger_rows.seq / ${sql.lit(perMs)} + ${sql.lit(epochMs)})`;
const id = sql`(printf('%012x', ${startedAt}) || ledger_rows.rest)`;

/** Columns that few rows have, stored together as a JSON object in the column `more`. */
const rareColumns = ['tries', 'search_units', 'client_address', 'units', 'trace_id', 'queue_ms', 'connect_ms'] as const;

function toCompact(column: keyof LedgerTable): RawBuilder<unknown> {
  if (column === 'id') return sql`${id} as id`;
  if (column === 'started_at') return sql`${startedAt} as started_at`;
  const isRare = rareColumns.some((one) => one === column);
  return isRare
    ? sql`json_extract(ledger_rows.more, ${sql.lit(`$.${column}`)}) as ${sql.ref(column)}`
    : sql.ref(column);
}

/** All columns of `ledger`, for a statement that selects from `fromCompact`. */
export const compactColumns: RawBuilder<LedgerTable> = sql`${sql.join(ledgerColumns.map(toCompact))}`;
const columnsOfLedger = sql.join(ledgerColumns.map((column) => sql.ref(column)));

/** The tables of compact rows, for `from`. As a cross join, SQLite reads them from left to right. */
export const fromCompact = sql`ledger_rows cross join ledger_places on ledger_places.id = ledger_rows.place`;

/** All rows of the time span in both tables, in the form of `ledger`. */
export function rowsOfTime(isSqlite: boolean, fromMs: number, toMs: number): RawBuilder<unknown> {
  const others = sql`select ${columnsOfLedger} from ledger where id >= ${firstIdOf(fromMs)} and id < ${firstIdOf(toMs)}`;
  if (!isSqlite) return others;
  return sql`${others} union all select ${compactColumns} from ${fromCompact}
    where ledger_rows.seq >= ${firstSeqOf(fromMs)} and ledger_rows.seq < ${firstSeqOf(toMs)}`;
}

export async function getCompact(db: Kysely<Schema>, rowId: string): Promise<LedgerTable | undefined> {
  const seq = toSeq(rowId);
  if (seq === undefined) return undefined;
  const { rows } = await sql<LedgerTable>`
    select ${compactColumns} from ${fromCompact} where seq = ${seq} and rest = ${toRest(rowId)}`.execute(db);
  return rows[0];
}

export async function readCompactExtent(
  db: Kysely<Schema>,
): Promise<{ readonly firstMs: number; readonly lastMs: number } | undefined> {
  const { rows } = await sql<Record<'first' | 'last', number | null>>`
    select (select min(seq) from ledger_rows) as first, (select max(seq) from ledger_rows) as last`.execute(db);
  const { first = null, last = null } = rows[0] ?? {};
  if (first === null || last === null) return undefined;
  return { firstMs: Math.floor(first / perMs) + epochMs, lastMs: Math.floor(last / perMs) + epochMs };
}

/** The start time of the row at this position, counted from the oldest row before `beforeMs`; undefined where there are fewer rows. */
export async function readCompactTime(
  db: Kysely<Schema>,
  beforeMs: number,
  position: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ at: number }>`
    select ${startedAt} as at from ledger_rows where seq < ${firstSeqOf(beforeMs)}
    order by seq limit 1 offset ${position - 1}`.execute(db);
  return rows[0]?.at;
}

export async function newestCompactBefore(db: Kysely<Schema>, beforeMs: number): Promise<number | undefined> {
  const { rows } = await sql<{ at: number }>`
    select ${startedAt} as at from ledger_rows where seq < ${firstSeqOf(beforeMs)} order by seq desc limit 1`.execute(
    db,
  );
  return rows[0]?.at;
}

export async function countCompactBefore(db: Kysely<Schema>, beforeMs: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ledger_rows where seq < ${firstSeqOf(beforeMs)}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

export async function deleteCompact(trx: Kysely<Schema>, beforeMs: number): Promise<readonly LedgerTable[]> {
  const { rows } = await sql<LedgerTable>`
    select ${compactColumns} from ${fromCompact} where seq < ${firstSeqOf(beforeMs)}`.execute(trx);
  await sql`delete from ledger_rows where seq < ${firstSeqOf(beforeMs)}`.execute(trx);
  return rows;
}

export async function deleteSharedValues(trx: Kysely<Schema>, beforeMs: number): Promise<void> {
  await trx
    .deleteFrom('ledger_places')
    .where('used_at', '<', beforeMs - dayMs)
    // The highest number stays: reused, it would mean other values, and processes cache the old ones.
    .where('id', '<', sql<number>`(select max(id) from ledger_places)`)
    .execute();
}

/** Moves all rows to `ledger`, for an older version that has only this table; the shared values stay. */
export async function moveCompactBack(trx: Kysely<Schema>): Promise<void> {
  await sql`insert into ledger (${columnsOfLedger}) select ${compactColumns} from ${fromCompact}`.execute(trx);
  await sql`delete from ledger_rows`.execute(trx);
}

/** Creates the function that computes `seq`, fastest for rows in the order of their time, as many have the same prefix. */
function createSeqs(): (row: Pick<LedgerTable, 'id' | 'started_at'>) => number | undefined {
  let latestMs = Number.NaN;
  let prefix = '';
  return ({ id, started_at }) => {
    if (started_at !== latestMs) {
      latestMs = started_at;
      prefix = firstIdOf(started_at);
    }
    return id.startsWith(prefix) && isId(id) ? seqAt(started_at, id) : undefined;
  };
}

export interface Entry extends NamedRow, Pick<ImportedRow, 'accounts' | 'capture'> {}

interface CompactEntry extends Entry {
  readonly names: LedgerSharedTable;
  readonly seq: number;
}

/** Compiled once, as building such a statement takes longer than running it. */
const savepoint = {
  begin: CompiledQuery.raw('savepoint part'),
  undo: CompiledQuery.raw('rollback to part'),
  end: CompiledQuery.raw('release part'),
};

/** Inserts rows into the compact table; `insertOther` receives those that do not fit it. Both return the new rows. */
export class CompactInsert {
  readonly #shared: SharedValues;
  readonly #insert: Insert<CompactEntry, number>;
  readonly #insertSeveral: Insert<CompactEntry, number>;
  readonly #insertOther: Insert<Entry, Entry>;

  constructor(db: Kysely<Schema>, insertOther: Insert<Entry, Entry>) {
    this.#shared = new SharedValues(db);
    const compile = (entries: CompactEntry[]) => {
      const lists = entries.map((entry) => sql`(${sql.join(toValues(entry))})`);
      return sql`insert into ledger_rows values ${sql.join(lists)} on conflict do nothing`.compile(db);
    };
    this.#insert = createInsertOfEach(compile, toValues);
    this.#insertSeveral = createInsertOfEach(compile, toValues, severalRows);
    this.#insertOther = insertOther;
  }

  /** To be called after a failed transaction: forgets the shared values that it read or added. */
  forget(): void {
    this.#shared.forget();
  }

  async run(trx: Transaction<Schema>, rows: readonly ImportedRow[]): Promise<readonly Entry[]> {
    await trx.executeQuery(savepoint.begin);
    const fresh = await this.#run(trx, rows, false).catch(async (thrown: unknown) => {
      if (!(thrown instanceof NumbersTaken)) throw thrown;
      await trx.executeQuery(savepoint.undo);
      this.forget();
      return this.#run(trx, rows, true);
    });
    await trx.executeQuery(savepoint.end);
    return fresh;
  }

  /** Inserts the rows. Throws `NumbersTaken` unless `isCareful`, which takes longer but finds out which rows exist. */
  async #run(trx: Transaction<Schema>, rows: readonly ImportedRow[], isCareful: boolean): Promise<readonly Entry[]> {
    await this.#shared.open(trx);
    const toSeqOf = createSeqs();
    let compact: CompactEntry[] = [];
    let others: Entry[] = [];
    for (const { row, accounts, capture } of rows) {
      const figures = toFigures(row);
      const seq = toSeqOf(figures);
      if (seq === undefined) others.push({ names: toNames(row), row: figures, accounts, capture });
      else {
        const names = this.#shared.valuesOf(row, figures.started_at);
        compact.push({ names, row: figures, accounts, capture, seq });
      }
    }
    compact.sort((one, other) => one.seq - other.seq);
    await this.#shared.save(trx);
    const known = await readOthers(trx, compact, others);
    if (known.size > 0) {
      compact = compact.filter(({ row }) => !known.has(row.id));
      others = others.filter(({ row }) => !known.has(row.id));
    }
    const fresh = await this.#insertCompact(trx, compact, isCareful);
    if (fresh.length === compact.length && others.length === 0) return fresh;
    const isFresh = new Set(fresh);
    const taken = compact.filter((entry) => !isFresh.has(entry));
    const ids = await readTaken(trx, taken);
    const inOther = await this.#insertOther(trx, [...others, ...taken.filter(({ row }) => !ids.has(row.id))]);
    return [...fresh, ...inOther];
  }

  takes(row: LedgerTable): boolean {
    return createSeqs()(row) !== undefined;
  }

  async move(trx: Transaction<Schema>, rows: readonly LedgerTable[]): Promise<readonly string[]> {
    await this.#shared.open(trx);
    const toSeqOf = createSeqs();
    const compact = rows.flatMap((row): CompactEntry[] => {
      const seq = toSeqOf(row);
      if (seq === undefined) return [];
      return [{ names: this.#shared.valuesOfNames(row, row.started_at), row, accounts: [], capture: undefined, seq }];
    });
    await this.#shared.save(trx);
    const written = await this.#insert(trx, compact);
    return compact.filter((_, index) => written[index] === 1).map(({ row }) => row.id);
  }

  async #insertCompact(
    trx: Transaction<Schema>,
    compact: readonly CompactEntry[],
    isCareful: boolean,
  ): Promise<readonly CompactEntry[]> {
    // Of rows with the same `seq`, only the first can be inserted.
    const firsts = compact.filter(({ seq }, index) => compact[index - 1]?.seq !== seq);
    const counts = await (isCareful ? this.#insert : this.#insertSeveral)(trx, firsts);
    if (isCareful) return firsts.filter((_, index) => counts[index] === 1);
    if (counts.reduce((sum, count) => sum + count, 0) < firsts.length) throw new NumbersTaken();
    return firsts;
  }
}

/** Thrown where existing rows have the same `seq`; of several rows in one statement it is unknown which. */
class NumbersTaken extends Error {}

/** Returns the IDs of rows that are in `ledger` already; this table has few rows, or none of this time. */
async function readOthers(
  trx: Kysely<Schema>,
  compact: readonly CompactEntry[],
  others: readonly Entry[],
): Promise<ReadonlySet<string>> {
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, 0];
  for (const { row } of compact) {
    firstMs = Math.min(firstMs, row.started_at);
    lastMs = Math.max(lastMs, row.started_at);
  }
  let [first, last] = compact.length === 0 ? ['g', ''] : [firstIdOf(firstMs), firstIdOf(lastMs + 1)];
  for (const { row } of others) {
    if (row.id < first) first = row.id;
    if (row.id > last) last = row.id;
  }
  const any = await trx.executeQuery(
    CompiledQuery.raw('select 1 from ledger where id >= ? and id <= ? limit 1', [first, last]),
  );
  if (any.rows.length === 0) return new Set();
  const ids = [...compact, ...others].map(({ row }) => row.id);
  const { rows } = await sql<{ id: string }>`
    select id from ledger where id in (select value from json_each(${JSON.stringify(ids)}))`.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/** Reads the IDs of rows with the same `seq`, which may be the same rows. */
async function readTaken(trx: Kysely<Schema>, entries: readonly CompactEntry[]): Promise<ReadonlySet<string>> {
  const seqs = JSON.stringify(entries.map(({ seq }) => seq));
  const { rows } = await sql<{ id: string }>`
    select ${id} as id from ledger_rows where seq in (select value from json_each(${seqs}))`.execute(trx);
  return new Set(rows.map((row) => row.id));
}

/** The values in the order of the columns. They are written out: with computed names, a whole import takes a tenth longer. */
const toValues = ({ seq, names, row }: CompactEntry): SQLInputValue[] => [
  seq,
  toRest(row.id),
  names.id,
  row.attempts,
  row.prompt_tokens,
  row.completion_tokens,
  row.total_tokens,
  row.cached_tokens,
  row.billed_input_tokens,
  row.billed_output_tokens,
  row.billed_search_units,
  row.items,
  row.cost_nanos,
  row.request_bytes,
  row.response_bytes,
  row.duration_ms,
  row.first_byte_ms,
  row.upstream_ms,
  row.client_request_id,
  toMore(row),
];

/** Rare columns that the row has, as a JSON object, or null. Most rows have none, which written-out names show sooner. */
function toMore(row: RowFigures): string | null {
  const { tries, search_units, client_address, units, trace_id, queue_ms, connect_ms } = row;
  const isPlain = tries === null && search_units === null && client_address === null && units === null;
  if (isPlain && trace_id === null && queue_ms === null && connect_ms === null) return null;
  const present = rareColumns.filter((column) => row[column] !== null);
  return JSON.stringify(pick(row, present));
}
