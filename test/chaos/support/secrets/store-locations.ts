/** Stores of each type for promises about stored data: their addresses, raw content, and manual writes. */

import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { type Postgres, startPostgres, whyNoPostgres } from '../../../support/servers/postgres.ts';
import type { Figure } from '../../promise.ts';
import type { Trace } from './canaries.ts';
import { dumpPostgres, readSqliteFiles } from './remains.ts';

export interface StoreLocation {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly url: string;
  /** All that a thief of the database has. */
  steal(): Promise<Trace[]>;
  /** One statement, past the gateway; `$1` and so on are its values. */
  run(statement: string, values?: readonly string[]): Promise<Record<string, unknown>[]>;
  /** Where it is a server. */
  readonly server: Postgres | undefined;
}

/** Shows the same in a store of each kind, at the same time. In SQLite `file` is made; in PostgreSQL the given user is. */
export async function inEachStore(
  t: TestContext,
  options: { readonly file: string; readonly user?: { readonly name: string; readonly password: string } },
  show: (location: StoreLocation) => Promise<readonly Figure[]>,
): Promise<Figure[]> {
  const named = async (location: StoreLocation): Promise<Figure[]> =>
    (await show(location)).map((figure) => ({ ...figure, name: `${location.name}: ${figure.name}` }));
  const inPostgres = async (): Promise<Figure[]> => named(await createPostgresLocation(t, options.user));
  const missing: Figure = {
    name: 'PostgreSQL',
    bar: 'the same',
    measured: `not measured: it ${whyNoPostgres}`,
    met: false,
  };
  const both = [named(createSqliteLocation(options.file)), whyNoPostgres === false ? inPostgres() : [missing]];
  return (await Promise.all(both)).flat();
}

function createSqliteLocation(file: string): StoreLocation {
  return {
    name: 'SQLite',
    url: `sqlite:${file}`,
    server: undefined,
    steal: async () => readSqliteFiles(file),
    async run(statement, values = []) {
      const database = new DatabaseSync(file, { timeout: 5_000 });
      try {
        const prepared = database.prepare(statement.replaceAll(/\$(\d)/g, '?$1'));
        return prepared.all(...values);
      } finally {
        database.close();
      }
    },
  };
}

async function createPostgresLocation(
  t: TestContext,
  user: { readonly name: string; readonly password: string } | undefined,
): Promise<StoreLocation> {
  const server = await startPostgres(t, { isOwn: user !== undefined });
  const ownerUrl = await server.createDatabase();
  const url = new URL(ownerUrl);
  if (user !== undefined) {
    const { name, password } = user;
    await runOn(ownerUrl, `create role ${name} login superuser password '${password.replaceAll("'", "''")}'`, []);
    url.username = name;
    url.password = encodeURIComponent(password);
  }
  return {
    name: 'PostgreSQL',
    url: url.href,
    server,
    steal: async () => [await dumpPostgres(ownerUrl)],
    run: (statement, values = []) => runOn(ownerUrl, statement, values),
  };
}

async function runOn(url: string, statement: string, values: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    return (await client.query(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}
