/** Takes rows of a journal into the ledger, with their sums and what they cost the budgets, all or nothing. */

import type { CompiledQuery, InsertQueryBuilder, InsertResult, Kysely, Transaction } from 'kysely';
import type { ImportedRow, LedgerStore } from '../core/store.ts';
import type { Clock } from '../lib/clock.ts';
import { bookCosts } from './ledger-booking.ts';
import {
  compareTexts,
  createInsertOfEach,
  createInsertOfJson,
  type Insert,
  inParts,
  isSqlite,
  mostPerStatement,
  plus,
  rowsOfJson,
} from './ledger-insert.ts';
import { dayMs, hourMs, sumColumns, toStorable, toTableRow } from './ledger-rows.ts';
import type { KeyUsageTable, LedgerTable, Schema, UsageTable } from './schema.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type Sums = Writable<UsageTable>;
type KeySums = Writable<KeyUsageTable>;

const sumKeys = ['span', 'key', 'project', 'route', 'model', 'upstream', 'outcome'] as const;
const keySumKeys = ['span', 'key', 'project'] as const;

export function createLedgerImport(db: Kysely<Schema>, clock: Clock): LedgerStore['import'] {
  const insertFresh = createInsertOfFresh(db);
  const addSums = {
    usage_hours: createAddition(db, 'usage_hours'),
    usage_days: createAddition(db, 'usage_days'),
    usage_key_days: createAddition(db, 'usage_key_days'),
  };

  return (journal, rows, { segment, offset }) => {
    const sorted = toEntries(rows);
    // The first statement writes: SQLite cannot let one go on to write that began by reading while another wrote.
    return db.transaction().execute(async (trx) => {
      const fresh = await insertFresh(trx, sorted);
      if (fresh.length > 0) {
        const hours = toHours(fresh);
        await addSums.usage_hours(trx, hours);
        const days = toDays(hours);
        await addSums.usage_days(trx, days);
        await addSums.usage_key_days(trx, toKeyDays(days));
        await bookCosts(trx, fresh);
        await insertCaptures(trx, fresh);
      }
      const place = { segment, position: offset, imported_at: clock.nowMs() };
      await trx
        .insertInto('journals')
        .values({ id: journal, ...place })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(place))
        .execute();
      return fresh.length;
    });
  };
}

interface Entry extends Pick<ImportedRow, 'accounts' | 'capture'> {
  readonly row: LedgerTable;
}

/** Gives back those that were not there yet. */
function createInsertOfFresh(db: Kysely<Schema>): Insert<Entry, Entry> {
  const ifAbsent = <O>(insert: InsertQueryBuilder<Schema, 'ledger', O>) =>
    insert.onConflict((conflict) => conflict.column('id').doNothing());
  const toRows = (entries: readonly Entry[]): LedgerTable[] => entries.map(({ row }) => row);

  if (isSqlite(db)) {
    const insert = createInsertOfEach((row: LedgerTable) => ifAbsent(db.insertInto('ledger').values(row)).compile());
    return async (trx, entries) => {
      const written = await insert(trx, toRows(entries));
      return entries.filter((_, index) => written[index] === 1);
    };
  }
  const insert = createInsertOfJson((columns: readonly (keyof LedgerTable)[]) =>
    ifAbsent(
      db
        .insertInto('ledger')
        .columns(columns)
        .expression(db.selectFrom(rowsOfJson('ledger')).select(columns)),
    )
      .returning('id')
      .compile(),
  );
  return async (trx, entries) => {
    const ids = new Set((await insert(trx, toRows(entries))).map(({ id }) => id));
    return entries.filter(({ row }) => ids.has(row.id));
  };
}

/**
 * Each ID once: of two rows with one ID the first counts. In the order of the IDs: whoever imports at the same time locks in
 * the same order, so that they wait for each other and never in a circle.
 */
function toEntries(rows: readonly ImportedRow[]): Entry[] {
  const byId = new Map<string, Entry>();
  for (const { row, accounts, capture } of rows) {
    if (!byId.has(row.id)) byId.set(row.id, { row: toTableRow(row), accounts, capture });
  }
  return [...byId.values()].sort((a, b) => compareTexts(a.row.id, b.row.id));
}

/** Of each table: what tells its lines apart, and what is added to those that are there. */
const sumTables = {
  usage_hours: { keys: sumKeys, columns: sumColumns },
  usage_days: { keys: sumKeys, columns: sumColumns },
  usage_key_days: { keys: keySumKeys, columns: ['errors', ...sumColumns] },
} as const;

type AnySums = Sums | KeySums;

function createAddition(db: Kysely<Schema>, table: keyof typeof sumTables): Insert<AnySums, unknown> {
  const { keys, columns: added } = sumTables[table];
  const addingUp = (insert: InsertQueryBuilder<Schema, typeof table, InsertResult>): CompiledQuery =>
    insert
      .onConflict((conflict) =>
        conflict.columns(keys).doUpdateSet(Object.fromEntries(added.map((column) => [column, plus(table, column)]))),
      )
      .compile();
  if (isSqlite(db)) return createInsertOfEach((sum: AnySums) => addingUp(db.insertInto(table).values(sum)));
  return createInsertOfJson((columns: readonly (keyof AnySums)[]) =>
    addingUp(
      db
        .insertInto(table)
        .columns(columns)
        .expression(db.selectFrom(rowsOfJson(table)).select(columns)),
    ),
  );
}

function toHours(rows: readonly Entry[]): Sums[] {
  const sums = new Map<string, Sums>();
  for (const { row } of rows) addUp(sums, toSums(row));
  return inOrder(sums);
}

function toDays(hours: readonly Sums[]): Sums[] {
  const sums = new Map<string, Sums>();
  for (const hour of hours) addUp(sums, { ...hour, span: hour.span - (hour.span % dayMs) });
  return inOrder(sums);
}

function toKeyDays(days: readonly Sums[]): KeySums[] {
  const sums = new Map<string, KeySums>();
  for (const { route, operation, model, upstream, outcome, ...more } of days) {
    const { span, key, project } = more;
    const name = `${span}\0${key}\0${project}`;
    const errors = outcome === 'ok' ? 0 : more.requests;
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { ...more, errors });
    else {
      sum.errors = addCounts(sum.errors, errors);
      addFigures(sum, more);
    }
  }
  return inOrder(sums);
}

/** `more` belongs to the sums from now on. */
function addUp(sums: Map<string, Sums>, more: Sums): void {
  const { span, key, project, route, model, upstream, outcome } = more;
  const name = `${span}\0${key}\0${project}\0${route}\0${model}\0${upstream}\0${outcome}`;
  const sum = sums.get(name);
  if (sum === undefined) sums.set(name, more);
  else addFigures(sum, more);
}

type Figures = Pick<Sums, (typeof sumColumns)[number]>;

function addFigures(sum: Figures, more: Figures): void {
  for (const column of sumColumns) {
    if (column === 'duration_ms') sum.duration_ms += more.duration_ms;
    else sum[column] = addCounts(sum[column], more[column]);
  }
}

/** Exactly, whatever upstreams say they have counted. */
function addCounts(one: number | bigint, other: number | bigint): number | bigint {
  if (typeof one === 'number' && typeof other === 'number' && Number.isSafeInteger(one + other)) return one + other;
  return BigInt(one) + BigInt(other);
}

const inOrder = <T>(sums: ReadonlyMap<string, T>): T[] =>
  [...sums].sort(([a], [b]) => compareTexts(a, b)).map(([, sum]) => sum);

/** Of one row; always with the same columns in the same order. */
function toSums(row: LedgerTable): Sums {
  return {
    span: row.started_at - (row.started_at % hourMs),
    key: row.key,
    project: row.project ?? '',
    route: row.route,
    operation: row.operation,
    model: row.model ?? '',
    upstream: row.upstream ?? '',
    outcome: row.outcome,
    requests: 1,
    input_tokens: row.billed_input_tokens ?? 0,
    output_tokens: row.billed_output_tokens ?? 0,
    search_units: row.billed_search_units ?? 0,
    items: row.items,
    cost_nanos: row.cost_nanos ?? 0,
    unpriced: isUnpriced(row) ? 1 : 0,
    estimated: row.is_estimated,
    request_bytes: row.request_bytes,
    response_bytes: row.response_bytes,
    duration_ms: row.duration_ms,
  };
}

/** What was not billed costs nothing, whatever the price; what was lost may have cost anything. */
const isUnpriced = (row: LedgerTable): boolean =>
  row.cost_nanos === null && (row.billed_input_tokens !== null || row.outcome === 'lost');

async function insertCaptures(trx: Transaction<Schema>, rows: readonly Entry[]): Promise<void> {
  const captures = rows.flatMap(({ row, capture }) =>
    capture === undefined
      ? []
      : {
          id: row.id,
          request: toStorable(capture.request),
          response: toStorable(capture.response),
          expires_at: capture.expiresAtMs,
        },
  );
  for (const part of inParts(captures, mostPerStatement)) {
    await trx
      .insertInto('captures')
      .values(part)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}
