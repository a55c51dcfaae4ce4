/** Statements that insert many rows at once. */

import { type CompiledQuery, sql, type Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** Rows a statement; SQLite binds 32,766 values at most. */
const statementSizes = [256, 64, 16, 4, 1];
export const mostPerStatement = 1_000;

/**
 * Inserts any number of rows, all with the same columns in the same order, by a few statements that are made once each: to
 * make one takes longer than to run it. Gives back what the statements do.
 */
export function createInsert<T extends object, R>(compile: (rows: readonly T[]) => CompiledQuery<R>) {
  const statements = new Map<number, CompiledQuery<R>>();
  return async (trx: Transaction<Schema>, rows: readonly T[]): Promise<R[]> => {
    const results: R[] = [];
    for (let start = 0; start < rows.length; ) {
      const length = statementSizes.find((size) => size <= rows.length - start) ?? 1;
      const part = rows.slice(start, start + length);
      const statement = statements.get(length) ?? compile(part);
      statements.set(length, statement);
      const parameters = part.flatMap((row) => Object.values(row));
      for (const result of (await trx.executeQuery<R>({ ...statement, parameters })).rows) results.push(result);
      start += length;
    }
    return results;
  };
}

/** What an insertion adds to what is there. */
export const plus = (table: string, column: string) =>
  sql<number>`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`;

export function* inParts<T>(list: readonly T[], length: number): Generator<readonly T[]> {
  for (let start = 0; start < list.length; start += length) yield list.slice(start, start + length);
}

/** By code units, as JavaScript has them, whatever the database's order: it is for locks. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
