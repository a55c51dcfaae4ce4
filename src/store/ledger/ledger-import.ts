/** Takes rows of a journal into the ledger, with their sums and what they cost the budgets, all or nothing. */

import type { CompiledQuery, InsertQueryBuilder, InsertResult, Kysely, Transaction } from 'kysely';
import type { ImportedRow, LedgerStore } from '../../core/store/ledger.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyUsageTable, LedgerPlaceTable, LedgerTable, Schema, UnitUsageTable, UsageTable } from '../schema.ts';
import { bookCosts } from './ledger-booking.ts';
import { CompactInsert } from './ledger-compact.ts';
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
import { rollUpHours, sumTables } from './ledger-rollup.ts';
import { toRowValues, toStorable, toTableRow } from './ledger-rows.ts';
import { createInsertOfSlices } from './ledger-slices.ts';
import { addUpRows, inOrder, toDays, toKeyDays } from './ledger-sums.ts';
import { addUpUnits, toUnitDays } from './ledger-unit-sums.ts';

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
    const entries = compact === undefined ? toEntries(rows) : rows.map(toEntry);
    // Beforehand, as others may wait for what the transaction holds; nearly always all of them are fresh.
    const sumsOfAll = compact === undefined ? addUp(entries) : undefined;
    const work = async (trx: Transaction<Schema>): Promise<number> => {
      // What is not rolled up yet is added to its day later.
      const before = compact === undefined ? Number.POSITIVE_INFINITY : await rollUpHours(trx, clock.nowMs());
      // For good where a former version is to run on the store.
      const isCompact = compact !== undefined && before < Number.MAX_SAFE_INTEGER;
      const fresh = isCompact ? await compact.run(trx, entries) : await insertFresh(trx, entries);
      if (fresh.length > 0) {
        const { hours, unitHours } = (fresh.length === entries.length ? sumsOfAll : undefined) ?? addUp(fresh);
        await insertSlices?.(trx, fresh);
        const days = toDays(inOrder(hours.filter(({ span }) => span < before)));
        await addHours(trx, compact === undefined ? inOrder(hours) : hours);
        await addDays(trx, days);
        await addKeyDays(trx, toKeyDays(days));
        await addUnitHours(trx, unitHours);
        await addUnitDays(trx, toUnitDays(unitHours.filter(({ span }) => span < before)));
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
    return db
      .transaction()
      .execute(work)
      .catch((thrown: unknown) => {
        compact?.forget();
        throw thrown;
      });
  };
}

interface Entry extends Pick<ImportedRow, 'accounts' | 'capture'> {
  readonly row: LedgerTable;
  /** The same of rows that have their names in common; in SQLite, once it is known. */
  place: LedgerPlaceTable | undefined;
  seq: number | undefined;
}

const toEntry = ({ row, accounts, capture }: ImportedRow): Entry => ({
  row: toTableRow(row),
  accounts,
  capture,
  place: undefined,
  seq: undefined,
});

const toRows = (entries: readonly Entry[]): LedgerTable[] => entries.map(({ row }) => row);

function addUp(entries: readonly Entry[]) {
  return { hours: addUpRows(entries), unitHours: addUpUnits(toRows(entries)) };
}

/** Gives back those that were not there yet. */
function createInsertOfFresh(db: Kysely<Schema>): Insert<Entry, Entry> {
  const ifAbsent = <O>(insert: InsertQueryBuilder<Schema, 'ledger', O>) =>
    insert.onConflict((conflict) => conflict.column('id').doNothing());
  if (isSqlite(db)) {
    const insert = createInsertOfEach(
      (row: LedgerTable) => ifAbsent(db.insertInto('ledger').values(row)).compile(),
      toRowValues,
    );
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
