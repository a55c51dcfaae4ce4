/** Imports journal rows into the ledger with their sums and budget charges, in one transaction. */

import type { CompiledQuery, InsertQueryBuilder, InsertResult, Kysely, Transaction } from 'kysely';
import type { ImportedRow, LedgerStore } from '../../core/store/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyUsageTable, LedgerTable, Schema, UnitUsageTable, UsageTable } from '../schema.ts';
import { insertSeries } from '../series/series-blocks.ts';
import { CompactInsert, type Entry, NumbersTaken } from './ledger-compact.ts';
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
  severalRows,
} from './ledger-insert.ts';
import { rollUpHours, sumTables } from './ledger-rollup.ts';
import { toFigures, toNames, toStorable, toTableRow } from './ledger-rows.ts';
import { createInsertOfSlices } from './ledger-slices.ts';
import { addUpRows, addUpUnits, inOrder, toDays, toKeyDays, toUnitDays } from './ledger-sums.ts';

export function createLedgerImport(db: Kysely<Schema>, clock: Clock): LedgerStore['import'] {
  const insertFresh = createInsertOfFresh(db);
  const compact = isSqlite(db) ? new CompactInsert(db, insertFresh) : undefined;
  const insertSlices = isSqlite(db) ? createInsertOfSlices(db) : undefined;
  const addHours = createAddition(db, 'usage_hours');
  const addDays = createAddition(db, 'usage_days');
  const addKeyDays = createAddition(db, 'usage_key_days');
  const addUnitHours = createAddition(db, 'usage_unit_hours');
  const addUnitDays = createAddition(db, 'usage_unit_days');

  return (journal, rows, { segment, offset }) => {
    const entries = compact === undefined ? toEntries(rows) : [];
    // Before the transaction, as others may wait for its locks; nearly always all entries are new.
    const sumsOfAll = compact === undefined ? addUp(entries) : undefined;
    const work = async (trx: Transaction<Schema>, isCareful: boolean): Promise<number> => {
      // Hours that are not rolled up yet are added to their day later.
      const before = compact === undefined ? Number.POSITIVE_INFINITY : await rollUpHours(trx, clock.nowMs());
      // For good where a former version is to run on the store.
      const isCompact = compact !== undefined && before < Number.MAX_SAFE_INTEGER;
      const fresh = isCompact
        ? await compact.run(trx, rows, isCareful)
        : await insertFresh(trx, compact ? rows.map(toEntry) : entries);
      if (fresh.length > 0) {
        const { hours, unitHours } = (fresh.length === entries.length ? sumsOfAll : undefined) ?? addUp(fresh);
        await insertSlices?.(trx, fresh);
        const days = toDays(inOrder(hours.filter(({ span }) => span < before)));
        await addHours(trx, compact === undefined ? inOrder(hours) : hours);
        await addDays(trx, days);
        await addKeyDays(trx, toKeyDays(days));
        await addUnitHours(trx, unitHours);
        await addUnitDays(trx, toUnitDays(unitHours.filter(({ span }) => span < before)));
        await insertSeries(trx, fresh);
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
    };
    const attempt = (isCareful: boolean): Promise<number> =>
      db
        .transaction()
        .execute((trx) => work(trx, isCareful))
        .catch((thrown: unknown) => {
          compact?.forget();
          if (thrown instanceof NumbersTaken) return attempt(true);
          throw thrown;
        });
    return attempt(false);
  };
}

const toEntry = ({ row, accounts, capture }: ImportedRow): Entry => ({
  names: toNames(row),
  row: toFigures(row),
  accounts,
  capture,
});

function addUp(entries: readonly Entry[]) {
  return { hours: addUpRows(entries), unitHours: addUpUnits(entries) };
}

/** Returns the new rows. */
function createInsertOfFresh(db: Kysely<Schema>): Insert<Entry, Entry> {
  const ifAbsent = <O>(insert: InsertQueryBuilder<Schema, 'ledger', O>) =>
    insert.onConflict((conflict) => conflict.column('id').doNothing());
  if (isSqlite(db)) {
    const insert = createInsertOfEach((rows: LedgerTable[]) =>
      ifAbsent(db.insertInto('ledger').values(rows)).compile(),
    );
    return async (trx, entries) => {
      const written = await insert(trx, entries.map(toTableRow));
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
    const ids = new Set((await insert(trx, entries.map(toTableRow))).map(({ id }) => id));
    return entries.filter(({ row }) => ids.has(row.id));
  };
}

/** Of two rows with one ID the first counts. Sorted by ID, so that parallel imports lock in one order, without deadlocks. */
function toEntries(rows: readonly ImportedRow[]): Entry[] {
  const byId = new Map<string, Entry>();
  for (const row of rows) if (!byId.has(row.row.id)) byId.set(row.row.id, toEntry(row));
  return [...byId.values()].sort((a, b) => compareTexts(a.row.id, b.row.id));
}

type AnySums = UsageTable | KeyUsageTable | UnitUsageTable;

function createAddition(db: Kysely<Schema>, table: keyof typeof sumTables): Insert<AnySums, unknown> {
  const { keys, added } = sumTables[table];
  const addingUp = (insert: InsertQueryBuilder<Schema, typeof table, InsertResult>): CompiledQuery =>
    insert
      .onConflict((conflict) =>
        conflict.columns(keys).doUpdateSet(Object.fromEntries(added.map((column) => [column, plus(table, column)]))),
      )
      .compile();
  if (isSqlite(db)) {
    const compile = (sums: AnySums[]) => addingUp(db.insertInto(table).values(sums));
    return createInsertOfEach(compile, Object.values, severalRows);
  }
  return createInsertOfJson((columns: readonly (keyof AnySums)[]) =>
    addingUp(
      db
        .insertInto(table)
        .columns(columns)
        .expression(db.selectFrom(rowsOfJson(table)).select(columns)),
    ),
  );
}

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

/** Books the costs on the rows' accounts; unknown accounts are skipped. */
async function bookCosts(trx: Transaction<Schema>, rows: readonly Entry[]): Promise<void> {
  const { costs, leases } = toCosts(rows);
  for (const part of inParts([...costs.keys()].sort(compareTexts), mostPerStatement)) {
    const accounts = await trx
      .selectFrom('budget_accounts')
      .selectAll()
      .where('id', 'in', part)
      .orderBy('id')
      .execute();
    if (accounts.length === 0) continue;
    // An insertion of existing rows: unlike an update, it locks in the order of its rows.
    await trx
      .insertInto('budget_accounts')
      .values(accounts.map((account) => ({ ...account, spent_nanos: costs.get(account.id) ?? 0 })))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ spent_nanos: plus('budget_accounts', 'spent_nanos') }),
      )
      .execute();
    const there = new Set(accounts.map(({ id }) => id));
    const spent = leases.filter(({ account }) => there.has(account));
    for (const some of inParts(spent, mostPerStatement)) {
      await trx
        .insertInto('budget_leases')
        .values(some)
        .onConflict((conflict) =>
          conflict.columns(['account', 'node']).doUpdateSet({ spent_nanos: plus('budget_leases', 'spent_nanos') }),
        )
        .execute();
    }
  }
}

interface LeaseCost {
  readonly account: string;
  readonly node: string;
  readonly drawn_nanos: number;
  spent_nanos: number;
}

function toCosts(rows: readonly Entry[]): { costs: Map<string, number>; leases: LeaseCost[] } {
  const costs = new Map<string, number>();
  const leases = new Map<string, LeaseCost>();
  for (const { names, row, accounts } of rows) {
    const cost = row.cost_nanos;
    if (cost === null || cost === 0) continue;
    for (const account of accounts) {
      costs.set(account, addNanos(costs.get(account) ?? 0, cost));
      const name = `${account}\0${names.node}`;
      const lease = leases.get(name);
      if (lease !== undefined) lease.spent_nanos = addNanos(lease.spent_nanos, cost);
      else leases.set(name, { account, node: names.node, drawn_nanos: 0, spent_nanos: cost });
    }
  }
  return { costs, leases: [...leases].sort(([a], [b]) => compareTexts(a, b)).map(([, lease]) => lease) };
}

/** Capped at the largest exact number: nine million dollars in one import. */
const addNanos = (one: number, other: number): number => Math.min(one + other, Number.MAX_SAFE_INTEGER);
