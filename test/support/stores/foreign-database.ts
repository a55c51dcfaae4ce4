/** Another program's database, created by statements: a SQLite file, or a PostgreSQL database. */

import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

export function makeSqlite(path: string, statements: string): void {
  const database = new DatabaseSync(path);
  database.exec(statements);
  database.close();
}

export async function makePostgres(url: string, statements: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statements);
  await client.end();
}
