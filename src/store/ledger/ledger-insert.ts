/** Builds insert statements for many rows; they are prepared once, because preparing takes longer than running. */

import type { SQLInputValue } from 'node:sqlite';
import { type CompiledQuery, type InsertObject, type Kysely, SqliteAdapter, sql, type Transaction } from 'kysely';
import type { Schema } from '../schema.ts';
import { withEach } from '../sqlite/sqlite-statements.ts';

export const mostPerStatement = 1_000;

/** An insert of any number of rows, all with the same columns in the same order. */
export type Insert<T, R> = (trx: Transaction<Schema>, rows: readonly T[]) => Promise<readonly R[]>;

/** Inserts the rows that are new; existing ones stay as they are. Returns how many were new. */
export async function insertNew<Table extends keyof Schema & string>(
  db: Kysely<Schema>,
  table: Table,
  rows: readonly InsertObject<Schema, Table>[],
): Promise<number> {
  const insert = db.insertInto(table).values(rows);
  const { numInsertedOrUpdatedRows } = await insert.onConflict((conflict) => conflict.doNothing()).executeTakeFirst();
  return Number(numInsertedOrUpdatedRows ?? 0);
}

/** Whether the database is SQLite: it has no round trips, so that inserting row by row is fastest. */
export const isSqlite = (db: Kysely<Schema>): boolean => db.getExecutor().adapter instanceof SqliteAdapter;

const accountLock = 7_370_017_385_206_472;

/**
 * Locks the budget accounts. An import books on known accounts, and a new account begins with the sums of earlier imports: one of the two waits, so
 * that no cost is missed between them. Imports share the lock. SQLite has one writer at a time.
 */
export async function lockAccounts(trx: Transaction<Schema>, mode: 'shared' | 'alone'): Promise<void> {
  if (isSqlite(trx)) return;
  const lock = sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  await sql`select ${lock}(${sql.lit(accountLock)})`.execute(trx);
}

/** Rows in one SQLite statement. Row by row takes half as long again, and more rows at once gain nothing. */
export const severalRows = 16;

/** Creates an insert for SQLite: one statement takes a few rows, one by default. Returns how many rows each statement wrote. */
export function createInsertOfEach<T extends object>(
  compile: (rows: T[]) => CompiledQuery,
  toValues: (row: T) => SQLInputValue[] = Object.values,
  atOnce = 1,
): Insert<T, number> {
  const statements = new Map<number, CompiledQuery>();
  async function insert(trx: Transaction<Schema>, rows: readonly T[], length: number): Promise<readonly number[]> {
    if (rows.length === 0) return [];
    const statement = statements.get(length) ?? compile(rows.slice(0, length));
    statements.set(length, statement);
    return (await trx.executeQuery<number>(withEach(statement, listsOf(rows, length, toValues)))).rows;
  }
  return async (trx, rows) => {
    const whole = rows.length - (rows.length % atOnce);
    const written = await insert(trx, rows.slice(0, whole), atOnce);
    return whole === rows.length ? written : [...written, ...(await insert(trx, rows.slice(whole), 1))];
  };
}

function* listsOf<T>(rows: readonly T[], length: number, toValues: (row: T) => SQLInputValue[]) {
  const none: SQLInputValue[] = [];
  for (const part of inParts(rows, length)) yield none.concat(...part.map(toValues));
}

/** Creates an insert for PostgreSQL: the statement takes all rows as one JSON text, see `rowsOfJson`. Returns the statement's rows. */
export function createInsertOfJson<T extends object, R>(
  compile: (columns: readonly (keyof T & string)[]) => CompiledQuery<R>,
): Insert<T, R> {
  let statement: CompiledQuery<R> | undefined;
  return async (trx, rows) => {
    const [first] = rows;
    if (first === undefined) return [];
    statement ??= compile(Object.keys(first) as (keyof T & string)[]);
    return (await trx.executeQuery<R>({ ...statement, parameters: [toJson(rows)] })).rows;
  };
}

/** Rows to select from, given as one parameter: a JSON list of objects with the table's columns and values. */
export const rowsOfJson = (table: keyof Schema) =>
  sql<Record<string, unknown>>`json_populate_recordset(null::${sql.table(table)}, ${''}::json)`.as<'given'>(sql`given`);

function toJson(rows: readonly object[]): string {
  try {
    return JSON.stringify(rows);
  } catch {
    // Values beyond 2^53 are bigints, which JSON.stringify refuses.
    return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  }
}

/** For a row that exists already: adds the inserted value to the existing one. */
export const plus = (table: string, column: string) =>
  sql<number>`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`;

export function* inParts<T>(list: readonly T[], length: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += length) yield list.slice(start, start + length);
}

/** Compares by code units, as in JavaScript, whatever the database's collation, so that all processes take locks in one order. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
