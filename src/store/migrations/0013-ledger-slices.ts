/** In SQLite the slices of time in which the ledger has rows of a thing, in place of an index for each kind of thing. */

import { type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const sliceMs = 1_024;

/** What nearly every row has is in no index, and in no slice. */
const rare: Readonly<Record<string, string>> = { outcome: "outcome <> 'ok'", status: 'status <> 200' };

const digitsOfTime = 12;
/** In milliseconds, of the hex digits that an ID begins with: it is in each index. */
const startedAt = sql.raw(
  `(${Array.from({ length: digitsOfTime }, (_, n) => {
    const digit = `(instr('0123456789abcdef', substr(id, ${n + 1}, 1)) - 1)`;
    return `(${digit} << ${4 * (digitsOfTime - 1 - n)})`;
  }).join(' + ')})`,
);

export const ledgerSlices: Migration = {
  async up(db: Kysely<unknown>) {
    if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
    await db.schema
      .createTable('ledger_slices')
      .addColumn('kind', 'text', (column) => column.notNull())
      // What is null in a row is empty text here.
      .addColumn('name', 'text', (column) => column.notNull())
      // Milliseconds since the epoch, divided by the length of one.
      .addColumn('slice', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('ledger_slices_pk', ['kind', 'name', 'slice'])
      .modifyEnd(sql`without rowid`)
      .execute();
    for (const column of ['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status']) {
      const index = sql.ref(`ledger_${column}`);
      const name = sql`cast(coalesce(${sql.ref(column)}, '') as text)`;
      // In the order of the index that goes: nothing is sorted, nothing is read but the index, and little memory is needed.
      await sql`
        insert or ignore into ledger_slices (kind, name, slice)
        select ${sql.lit(column)}, ${name}, ${startedAt} / ${sql.lit(sliceMs)}
        from ledger indexed by ${index} where ${sql.raw(rare[column] ?? 'true')} order by ${sql.ref(column)}, id`.execute(
        db,
      );
      await db.schema.dropIndex(`ledger_${column}`).execute();
    }
  },
};
