/** Prepares the statements of one SQLite connection, and converts values. */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery } from 'kysely';
import { toStorableText } from '../stored-json.ts';

export type Row = Record<string, SQLOutputValue>;

/** A writing statement that one call runs once with each of the lists. The result's rows are the numbers of rows that each run wrote. */
export interface EachQuery extends CompiledQuery<number> {
  readonly lists: Iterable<SQLInputValue[]>;
}

/** Lets a statement run with each list, in two thirds of the time of one long statement. Use it in a transaction, as runs are not undone together. */
export function withEach({ sql, query, queryId }: CompiledQuery, lists: Iterable<SQLInputValue[]>): EachQuery {
  return { sql, query, queryId, parameters: [], lists };
}

export const listsOf = (query: CompiledQuery): Iterable<SQLInputValue[]> | undefined =>
  'lists' in query ? (query as EachQuery).lists : undefined;

export interface SqliteResult {
  readonly rows: Row[] | number[];
  /** Number of written rows; undefined for a statement that returns rows. */
  readonly changes: bigint | undefined;
}

const keptStatements = 256;

export const isRead = (sql: string): boolean => /^\s*select\b/i.test(sql);

/** Runs statements on a connection. Each is prepared only once, because preparing a long one takes as long as running it. */
export function createStatements(
  database: DatabaseSync,
): (sql: string, parameters: SQLInputValue[], lists?: Iterable<SQLInputValue[]>) => SqliteResult {
  // The least recently used first.
  const kept = new Map<string, { readonly statement: StatementSync; readonly isReader: boolean }>();

  function prepare(sql: string) {
    let prepared = kept.get(sql);
    if (prepared === undefined) {
      const statement = database.prepare(sql);
      prepared = { statement, isReader: statement.columns().length > 0 };
      // Without bigints, a number beyond 2^53 could be written and never read. Statements without columns read nothing.
      if (prepared.isReader) statement.setReadBigInts(true);
    } else kept.delete(sql);
    kept.set(sql, prepared);
    const [oldest] = kept.keys();
    if (kept.size > keptStatements && oldest !== undefined) kept.delete(oldest);
    return prepared;
  }

  return (sql, parameters, lists) => {
    const { statement, isReader } = prepare(sql);
    if (lists !== undefined) {
      const written: number[] = [];
      // Lists are made one at a time, so that they are short-lived garbage.
      for (const list of lists) written.push(Number(statement.run(...list).changes));
      return { rows: written, changes: undefined };
    }
    if (isReader) return { rows: statement.all(...parameters).map(toRow), changes: undefined };
    return { rows: [], changes: BigInt(statement.run(...parameters).changes) };
  };
}

/** Converts values for SQLite, which would treat a plain object as named parameters: only simple values may pass. */
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

function toRow(row: Row): Row {
  for (const column in row) {
    const value = row[column];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[column] = number;
  }
  return row;
}
