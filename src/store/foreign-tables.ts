/** Reads tables of another program's database, SQLite or PostgreSQL, read-only. */

import { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { reasonOf } from '../lib/thrown.ts';
import { StoreError } from './store-error.ts';

export type ForeignRow = Readonly<Record<string, unknown>>;

export interface ForeignTables {
  /** Reads a table in the order of its first column; undefined where there is no such table. */
  rows(table: string): Promise<readonly ForeignRow[] | undefined>;
  close(): Promise<void>;
}

const patienceMs = 30_000;
/** PostgreSQL's type of times without a zone, here read as UTC; the client library would take this machine's zone. */
const timestamp = 1114;
const toInstant = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);

/** Opens another program's database. `url`: `postgres://...` or a file's path; `storeName`: the same without a password. Throws a StoreError. */
export async function openForeignTables(url: string, storeName: string): Promise<ForeignTables> {
  const asFault = (thrown: unknown): StoreError =>
    new StoreError(`${storeName} cannot be read (${reasonOf(thrown)})`, thrown);
  try {
    const tables = url.startsWith('postgres') && URL.canParse(url) ? await openPostgres(url) : openSqlite(url);
    return {
      rows: async (table) => {
        try {
          return await tables.rows(table);
        } catch (thrown) {
          throw asFault(thrown);
        }
      },
      close: () => tables.close(),
    };
  } catch (thrown) {
    throw asFault(thrown);
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function openSqlite(path: string): ForeignTables {
  const database = new DatabaseSync(path, { readOnly: true, timeout: patienceMs });
  return {
    async rows(table) {
      const known = database.prepare("select 1 from sqlite_master where type in ('table', 'view') and name = ?");
      if (known.get(table) === undefined) return undefined;
      return database.prepare(`select * from ${quoted(table)} order by 1`).all();
    },
    async close() {
      database.close();
    },
  };
}

/** Opens a PostgreSQL database so that all tables are read as of one moment. */
async function openPostgres(url: string): Promise<ForeignTables> {
  const [{ Client }, { toClientConfig }] = await Promise.all([import('pg'), import('./postgres/postgres-pool.ts')]);
  const config = toClientConfig(url, { connectMs: patienceMs, statementMs: patienceMs });
  const client: Client = new Client({
    ...config,
    types: {
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === timestamp && format !== 'binary' ? toInstant : config.types?.getTypeParser(type, format),
    },
  });
  // Without a listener, an error of the connection would end the process; the waiting query receives it anyway.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('begin isolation level repeatable read read only');
  } catch (thrown) {
    await client.end().catch(() => undefined);
    throw thrown;
  }
  return {
    async rows(table) {
      const { rows: found } = await client.query('select to_regclass($1) is not null as known', [quoted(table)]);
      if (found[0]?.known !== true) return undefined;
      const { rows } = await client.query<ForeignRow>(`select * from ${quoted(table)} order by 1`);
      return rows;
    },
    close: () => client.end(),
  };
}
