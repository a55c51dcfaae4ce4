/** Tampering with a store's tables by a SQLite tool. */

import { DatabaseSync } from 'node:sqlite';

export function tamper(file: string, sql: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(sql);
  database.close();
}
