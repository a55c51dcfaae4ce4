/** Prepared statements of one SQLite connection, and value conversion. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery } from 'kysely';
import { toStorableText } from '../stored-json.ts';

export type Row = Record<string, SQLOutputValue>;

/** A writing statement, run once with each of the lists, in one call. The result's rows are how many rows each wrote. */
export interface EachQuery extends CompiledQuery<number> {
  readonly lists: Iterable<SQLInputValue[]>;
}

/**
 * Takes two thirds of the time of one statement with as many rows, and a third with RETURNING. Use it in a transaction: else lists before a failing
 * one stay written.
 */
export function withEach({ sql, query, queryId }: CompiledQuery, lists: Iterable<SQLInputValue[]>): EachQuery {
  return { sql, query, queryId, parameters: [], lists };
}

export const listsOf = (query: CompiledQuery): Iterable<SQLInputValue[]> | undefined =>
  'lists' in query ? (query as EachQuery).lists : undefined;

/** Lists made one at a time are short-lived garbage. */
export function runEach(statement: StatementSync, lists: Iterable<SQLInputValue[]>): number[] {
  const written: number[] = [];
  for (const list of lists) written.push(Number(statement.run(...list).changes));
  return written;
}

export interface SqliteResult {
  readonly rows: Row[] | number[];
  /** Number of written rows; undefined for a statement that returns rows. */
  readonly changes: bigint | undefined;
}

/** Prepared statements that a connection keeps. */
const storedObjectStatements = 256;

/** Caches a value for each prepared statement: preparing a long one takes as long as running it. */
export function keepPrepared<T>(database: DatabaseSync, make: (statement: StatementSync) => T): (sql: string) => T {
  // The least recently used first.
  const kept = new Map<string, T>();
  return (sql) => {
    const known = kept.get(sql);
    if (known !== undefined) {
      kept.delete(sql);
      kept.set(sql, known);
      return known;
    }
    const statement = database.prepare(sql);
    // Without bigints, a number beyond 2^53 could be written and never read. Statements without columns read nothing.
    if (statement.columns().length > 0) statement.setReadBigInts(true);
    const made = make(statement);
    kept.set(sql, made);
    const [oldest] = kept.keys();
    if (kept.size > storedObjectStatements && oldest !== undefined) kept.delete(oldest);
    return made;
  };
}

export function createStatements(
  database: DatabaseSync,
): (sql: string, parameters: SQLInputValue[], lists?: Iterable<SQLInputValue[]>) => SqliteResult {
  const prepare = keepPrepared(database, (statement) => ({ statement, isReader: statement.columns().length > 0 }));
  return (sql, parameters, lists) => {
    const { statement, isReader } = prepare(sql);
    if (lists !== undefined) return { rows: runEach(statement, lists), changes: undefined };
    if (isReader) return { rows: statement.all(...parameters).map(toRow), changes: undefined };
    return { rows: [], changes: BigInt(statement.run(...parameters).changes) };
  };
}

/** SQLite treats a plain object as named parameters; only values may pass. */
export function toBound(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters.map((value) => {
    switch (typeof value) {
      case 'string':
        return toStorableText(value);
      case 'number':
      case 'bigint':
        return value;
      default:
        if (value === null || value instanceof Uint8Array) return value;
        throw new TypeError(`A value of type ${typeof value} cannot be bound to an SQL statement.`);
    }
  });
}

/** Exact integers become numbers; larger ones stay bigints. */
export function toRow(row: Row): Row {
  for (const column in row) {
    const value = row[column];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[column] = number;
  }
  return row;
}
