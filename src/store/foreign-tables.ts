/** Tables of another program's database, to be read alone. */

import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { codeOf, reasonOf } from '../lib/thrown.ts';

export type ForeignRow = Readonly<Record<string, unknown>>;

/** What cannot be had: of the whole, or of one table. */
export class ForeignFault extends Error {
  readonly table: string | undefined;

  constructor(why: string, table?: string) {
    super(why);
    this.name = 'ForeignFault';
    this.table = table;
  }
}

const timeoutMs = 30_000;

/** All rows of each table, in their order. Rejects with `ForeignFault`. */
export async function readPostgresTables(url: string, tables: readonly string[]): Promise<(readonly ForeignRow[])[]> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    statement_timeout: timeoutMs,
    options: '-c default_transaction_read_only=on',
  });
  try {
    await client.connect();
  } catch (error) {
    throw new ForeignFault(codeOf(error) ?? reasonOf(error));
  }
  try {
    const all: (readonly ForeignRow[])[] = [];
    for (const table of tables) {
      const { rows } = await client.query<ForeignRow>(selectAll(table)).catch((error: unknown) => {
        throw new ForeignFault(reasonOf(error), table);
      });
      all.push(rows);
    }
    return all;
  } finally {
    await client.end();
  }
}

/** The same of a file. */
export function readSqliteTables(path: string, tables: readonly string[]): (readonly ForeignRow[])[] {
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(path, { readOnly: true });
  } catch (error) {
    throw new ForeignFault(reasonOf(error));
  }
  try {
    return tables.map((table) => {
      try {
        return database.prepare(selectAll(table)).all();
      } catch (error) {
        throw new ForeignFault(reasonOf(error), table);
      }
    });
  } finally {
    database.close();
  }
}

const selectAll = (table: string): string => `SELECT * FROM "${table}"`;
