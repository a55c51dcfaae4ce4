/** Takes out of the ledger what is kept no longer: a few thousand rows at a time, so that nobody waits long for the lock. Sums stay. */

import type { Kysely, Transaction } from 'kysely';
import type { Schema } from '../schema.ts';
import { isSqlite } from './ledger-insert.ts';
import { firstIdOf } from './ledger-rows.ts';
import { deleteSlices, slicedColumns } from './ledger-slices.ts';

const rowsAtOnce = 2_000;

/** The one row of its table. */
const pruningId = 1;

export async function pruneRows(db: Kysely<Schema>, beforeMs: number): Promise<number> {
  // Where rows are kept for good, the time is before all times.
  if (!(beforeMs > 0)) return 0;
  const before = Math.ceil(beforeMs);
  const end = firstIdOf(before);
  return db.transaction().execute(async (trx) => {
    // First, as whoever compares rows with sums must not take the first row that is gone for one that was lost.
    await trx
      .insertInto('pruning')
      .values({ id: pruningId, before })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ before }).where('pruning.before', '<', before))
      .execute();
    const rows = await deleteRows(trx, end);
    const { numDeletedRows: captures } = await trx
      .deleteFrom('captures')
      .where('id', 'in', trx.selectFrom('captures').select('id').where('id', '<', end).orderBy('id').limit(rowsAtOnce))
      .executeTakeFirstOrThrow();
    return rows + Number(captures);
  });
}

async function deleteRows(trx: Transaction<Schema>, end: string): Promise<number> {
  const deletion = trx
    .deleteFrom('ledger')
    .where('id', 'in', trx.selectFrom('ledger').select('id').where('id', '<', end).orderBy('id').limit(rowsAtOnce));
  if (!isSqlite(trx)) return Number((await deletion.executeTakeFirstOrThrow()).numDeletedRows);
  const rows = await deletion.returning(slicedColumns).execute();
  if (rows.length > 0) await deleteSlices(trx, rows);
  return rows.length;
}

export async function pruneCaptures(db: Kysely<Schema>, nowMs: number): Promise<number> {
  for (let total = 0; ; ) {
    const { numDeletedRows } = await db
      .deleteFrom('captures')
      .where('id', 'in', (from) =>
        from
          .selectFrom('captures')
          .select('id')
          .where('expires_at', '<=', nowMs)
          .orderBy('expires_at')
          .limit(rowsAtOnce),
      )
      .executeTakeFirstOrThrow();
    total += Number(numDeletedRows);
    if (numDeletedRows < rowsAtOnce) return total;
  }
}
