/** Someone with a tool of SQLite at the tables of a store. */

import { DatabaseSync } from 'node:sqlite';

export function tamper(file: string, sql: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(sql);
  database.close();
}
