/** Moves rows of former versions from SQLite's `ledger` to the compact table, a few at a time, oldest first; a mark shows how far. */

import { type Kysely, sql, type Transaction } from 'kysely';
import type { Schema } from '../schema.ts';
import { readSetting, writeSetting } from '../settings.ts';
import { CompactInsert } from './ledger-compact.ts';
import { isSqlite } from './ledger-insert.ts';

/** Rows moved in one transaction. It takes about 10 ms, so that other writers are not blocked for long. */
const rowsAtOnce = 500;

const markName = 'former_rows';

/** The ID of the last row examined; undefined where no row was ever moved. */
export const readFormerMark = (db: Kysely<Schema>): Promise<string | undefined> => readSetting(db, markName);

/** Deletes the mark, after all rows were moved back. */
export async function forgetFormerMark(db: Kysely<Schema>): Promise<void> {
  await db.deleteFrom('settings').where('name', '=', markName).execute();
}

/** Each call moves some rows and returns whether there may be more. Rows that do not fit the new table stay. */
export function createFormerMove(db: Kysely<Schema>): () => Promise<boolean> {
  if (!isSqlite(db)) return async () => false;
  const compact = new CompactInsert(db, async () => []);
  /** The last examined ID, so that rows that cannot be moved are examined only once. */
  let lookedAt = '';
  let lastMark: string | undefined;
  const move = async (trx: Transaction<Schema>): Promise<boolean> => {
    const mark = await readFormerMark(trx);
    const { before } = await trx.selectFrom('usage_rollup').select('before').executeTakeFirstOrThrow();
    // All rows were moved back to `ledger` for a former version, which may have added rows since.
    if (mark === undefined && lastMark !== undefined) {
      lookedAt = '';
      compact.forget();
    }
    lastMark = mark;
    if (before >= Number.MAX_SAFE_INTEGER) return false;
    if (mark !== undefined && mark > lookedAt) lookedAt = mark;
    const rows = await trx
      .selectFrom('ledger')
      .selectAll()
      .where('id', '>', lookedAt)
      .orderBy('id')
      .limit(rowsAtOnce)
      .execute();
    const last = rows.at(-1);
    if (last === undefined) {
      compact.forget();
      return false;
    }
    if (!rows.some((row) => compact.takes(row))) {
      lookedAt = last.id;
      return rows.length === rowsAtOnce;
    }
    const ids = JSON.stringify(await compact.move(trx, rows));
    await sql`delete from ledger where id in (select value from json_each(${ids}))`.execute(trx);
    await writeSetting(trx, markName, last.id);
    return rows.length === rowsAtOnce;
  };
  return () =>
    db
      .transaction()
      .execute(move)
      .catch((thrown: unknown) => {
        compact.forget();
        throw thrown;
      });
}
