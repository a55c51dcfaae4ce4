/** What upstreams keep for clients: whose it is, and which upstream and credential hold it. */

import { type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keptObjects: Migration = {
  async up(db: Kysely<unknown>) {
    const table = db.schema
      .createTable('kept_objects')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('upstream', 'text', (column) => column.notNull())
      .addColumn('owner', 'text', (column) => column.notNull())
      .addColumn('credential', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('kept_objects_pk', ['id', 'kind', 'upstream']);
    const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
    await (isSqlite ? table.modifyEnd(sql`without rowid`) : table).execute();
    await db.schema.createIndex('kept_objects_created').on('kept_objects').column('created_at').execute();
  },
};
