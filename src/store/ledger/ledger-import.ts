/** Imports journal rows into the ledger with their sums and budget charges, in one transaction. */

import type { CompiledQuery, InsertQueryBuilder, InsertResult, Kysely, Transaction } from 'kysely';
import type { ImportedPart, ImportedRow, JournalPosition, LedgerStore } from '../../core/store/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyUsageTable, LedgerTable, Schema, UnitUsageTable, UsageTable } from '../schema.ts';
import { insertSeries } from '../series/series-blocks.ts';
import { Minutes } from '../series/series-cells.ts';
import { CompactInsert, type Entry } from './ledger-compact.ts';
import {
  compareTexts,
  createInsertOfEach,
  createInsertOfJson,
  type Insert,
  inParts,
  insertNew,
  isSqlite,
  lockAccounts,
  mostPerStatement,
  plus,
  rowsOfJson,
  severalRows,
} from './ledger-insert.ts';
import { rollUpHours, sumTables } from './ledger-rollup.ts';
import { toFigures, toNames, toStorable, toTableRow } from './ledger-rows.ts';
import { addToSlices, createInsertOfSlices, type NamesBySlice } from './ledger-slices.ts';
import { HourSums, inOrder, toDays, toKeyDays, toUnitDays } from './ledger-sums.ts';

export function createLedgerImport(db: Kysely<Schema>, clock: Clock): LedgerStore['import'] {
  const insertFresh = createInsertOfFresh(db);
  const compact = isSqlite(db) ? new CompactInsert(db, insertFresh) : undefined;
  const insertSlices = isSqlite(db) ? createInsertOfSlices(db) : undefined;
  const addHours = createAddition(db, 'usage_hours');
  const addDays = createAddition(db, 'usage_days');
  const addKeyDays = createAddition(db, 'usage_key_days');
  const addUnitHours = createAddition(db, 'usage_unit_hours');
  const addUnitDays = createAddition(db, 'usage_unit_days');

  async function writeSums(trx: Transaction<Schema>, sums: ImportSums, before: number): Promise<void> {
    const hours = sums.byHour.hours();
    const unitHours = sums.byHour.unitHours();
    await insertSlices?.(trx, sums.slices);
    const days = toDays(inOrder(hours.filter(({ span }) => span < before)));
    await addHours(trx, compact === undefined ? inOrder(hours) : hours);
    await addDays(trx, days);
    await addKeyDays(trx, toKeyDays(days));
    await addUnitHours(trx, unitHours);
    await addUnitDays(trx, toUnitDays(unitHours.filter(({ span }) => span < before)));
    await insertSeries(trx, sums.minutes);
    await bookCosts(trx, sums.costs);
  }

  async function notePosition(
    trx: Transaction<Schema>,
    journal: string,
    { segment, offset }: JournalPosition,
  ): Promise<void> {
    const values = { segment, position: offset, imported_at: clock.nowMs() };
    await trx
      .insertInto('journals')
      .values({ id: journal, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
  }

  /** Imports a journal into SQLite part by part, so that little of it is in memory at a time. */
  async function importCompact(
    trx: Transaction<Schema>,
    compact: CompactInsert,
    journal: string,
    first: ImportedPart,
    next: NextPart,
  ): Promise<number> {
    // Rows of hours that are not rolled up yet are added to their day later, by the roll-up.
    const before = await rollUpHours(trx, clock.nowMs());
    // Every hour counts as rolled up once a former version is to run on the store; it does not know the compact table.
    const isCompact = before < Number.MAX_SAFE_INTEGER;
    const sums = new ImportSums();
    let { position } = first;
    for (let part: ImportedPart | undefined = first; part !== undefined; part = await next()) {
      const fresh = isCompact ? await compact.run(trx, part.rows) : await insertFresh(trx, part.rows.map(toEntry));
      sums.add(fresh);
      await insertCaptures(trx, fresh);
      position = part.position;
    }
    if (sums.rows > 0) await writeSums(trx, sums, before);
    await notePosition(trx, journal, position);
    return sums.rows;
  }

  return async (journal, rows, position, next = noNext) => {
    const first = { rows, position };
    if (compact !== undefined) {
      return db
        .transaction()
        .execute((trx) => importCompact(trx, compact, journal, first, next))
        .catch((thrown: unknown) => {
          compact.forget();
          throw thrown;
        });
    }
    const whole = await joinParts(first, next);
    const entries = toEntries(whole.rows);
    // Computed before the transaction, as others may wait for its locks; nearly always all entries are new.
    const sumsOfAll = sumsOf(entries);
    return db.transaction().execute(async (trx) => {
      const fresh = await insertFresh(trx, entries);
      if (fresh.length > 0) {
        const sums = fresh.length === entries.length ? sumsOfAll : sumsOf(fresh);
        await writeSums(trx, sums, Number.POSITIVE_INFINITY);
        await insertCaptures(trx, fresh);
      }
      await notePosition(trx, journal, whole.position);
      return fresh.length;
    });
  };
}

type NextPart = () => Promise<ImportedPart | undefined>;
const noNext: NextPart = async () => undefined;

async function joinParts(first: ImportedPart, next: NextPart): Promise<ImportedPart> {
  const rows = [...first.rows];
  let { position } = first;
  for (let part = await next(); part !== undefined; part = await next()) {
    for (const row of part.rows) rows.push(row);
    position = part.position;
  }
  return { rows, position };
}

/** Collects what the rows of an import add to other tables, which is written once after all rows. */
class ImportSums {
  rows = 0;
  readonly byHour = new HourSums();
  readonly slices: NamesBySlice = new Map();
  readonly minutes = new Minutes();
  readonly costs = new Costs();

  add(entries: readonly Entry[]): void {
    this.rows += entries.length;
    this.byHour.add(entries);
    addToSlices(this.slices, entries);
    this.minutes.add(entries);
    this.costs.add(entries);
  }
}

function sumsOf(entries: readonly Entry[]): ImportSums {
  const sums = new ImportSums();
  sums.add(entries);
  return sums;
}

const toEntry = ({ row, accounts, capture }: ImportedRow): Entry => ({
  names: toNames(row),
  row: toFigures(row),
  accounts,
  capture,
});

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
    const rows = entries.map(({ names, row }): LedgerTable => ({ ...names, ...row }));
    const ids = new Set((await insert(trx, rows)).map(({ id }) => id));
    return entries.filter(({ row }) => ids.has(row.id));
  };
}

/** The entries sorted by ID, so that parallel imports lock in one order, without deadlocks. Of two rows with one ID the first counts. */
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
  for (const part of inParts(captures, mostPerStatement)) await insertNew(trx, 'captures', part);
}

/** Adds the costs of rows to their budget accounts; unknown accounts are skipped. */
async function bookCosts(trx: Transaction<Schema>, { byAccount, leases }: Costs): Promise<void> {
  if (byAccount.size > 0) await lockAccounts(trx, 'shared');
  for (const part of inParts([...byAccount.keys()].sort(compareTexts), mostPerStatement)) {
    const accounts = await trx
      .selectFrom('budget_accounts')
      .selectAll()
      .where('id', 'in', part)
      .orderBy('id')
      .execute();
    if (accounts.length === 0) continue;
    // Existing rows are inserted again: unlike an update, an insertion locks in the order of its rows.
    await trx
      .insertInto('budget_accounts')
      .values(accounts.map((account) => ({ ...account, spent_nanos: byAccount.get(account.id) ?? 0 })))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ spent_nanos: plus('budget_accounts', 'spent_nanos') }),
      )
      .execute();
    const there = new Set(accounts.map(({ id }) => id));
    const spent = [...leases]
      .sort(([one], [other]) => compareTexts(one, other))
      .flatMap(([, lease]) => (there.has(lease.account) ? lease : []));
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

type LeaseCost = Omit<Schema['budget_leases'], 'spent_nanos'> & { spent_nanos: number };

class Costs {
  readonly byAccount = new Map<string, number>();
  /** Costs by account and node. */
  readonly leases = new Map<string, LeaseCost>();

  add(rows: readonly Entry[]): void {
    for (const { names, row, accounts } of rows) {
      const cost = row.cost_nanos;
      if (cost === null || cost === 0) continue;
      for (const account of accounts) this.#book(account, names.node, cost);
    }
  }

  #book(account: string, node: string, cost: number): void {
    this.byAccount.set(account, addNanos(this.byAccount.get(account) ?? 0, cost));
    const name = `${account}\0${node}`;
    const lease = this.leases.get(name);
    if (lease !== undefined) lease.spent_nanos = addNanos(lease.spent_nanos, cost);
    else this.leases.set(name, { account, node, drawn_nanos: 0, spent_nanos: cost });
  }
}

/** Adds costs, up to the largest exact number: nine million dollars in one import. */
const addNanos = (one: number, other: number): number => Math.min(one + other, Number.MAX_SAFE_INTEGER);
