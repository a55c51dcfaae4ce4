/** Prepared statements of one SQLite connection, and value conversion. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery } from 'kysely';
import { toStorableText } from '../stored-json.ts';

export type Row = Record<string, SQLOutputValue>;

/** A statement that writes, to be run once with each of the lists, in one call. The result's rows say how many rows each wrote. */
export interface EachQuery extends CompiledQuery<number> {
  readonly lists: Iterable<SQLInputValue[]>;
}

/**
 * To run one many times takes two thirds of the time of one with as many rows, and a third of one that gives back what it wrote.
 * In a transaction: of lists that stand alone, those before one that fails stay written.
 */
export function withEach({ sql, query, queryId }: CompiledQuery, lists: Iterable<SQLInputValue[]>): EachQuery {
  return { sql, query, queryId, parameters: [], lists };
}

export const listsOf = (query: CompiledQuery): Iterable<SQLInputValue[]> | undefined =>
  'lists' in query ? (query as EachQuery).lists : undefined;

/** A list that is made when it is its turn is garbage at once. */
export function runEach(statement: StatementSync, lists: Iterable<SQLInputValue[]>): number[] {
  const written: number[] = [];
  for (const list of lists) written.push(Number(statement.run(...list).changes));
  return written;
}

export interface SqliteResult {
  readonly rows: Row[] | number[];
  /** How many rows were written; undefined for a statement that gives rows back. */
  readonly changes: bigint | undefined;
}

/** Prepared statements that a connection keeps. */
const storedObjectStatements = 256;

/** What is made of each prepared statement, once. To prepare a long one takes as long as to run it. */
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
    // Else a number past 2^53 could be written and never read again. Where nothing is read, counts would be made in vain.
    if (statement.columns().length > 0) statement.setReadBigInts(true);
    const made = make(statement);
    kept.set(sql, made);
    const [oldest] = kept.keys();
    if (kept.size > storedObjectStatements && oldest !== undefined) kept.delete(oldest);
    return made;
  };
}

/** Runs statements on the connection, each prepared once. */
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

/** SQLite takes a plain object in the first place for a table of names; nothing but values may get that far. */
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

/** Whole numbers that a JavaScript number holds exactly become one; larger ones stay as they are. */
export function toRow(row: Row): Row {
  for (const column in row) {
    const value = row[column];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[column] = number;
  }
  return row;
}
