/** Batches of requests, until what they cost is known; and what the files ask for that they are made of. */

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const batches: Migration = {
  async up(db: Kysely<unknown>) {
    // As answers that are made in the background; an earlier version would take them for these.
    await db.schema
      .createTable('batches')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('upstream', 'text', (column) => column.notNull())
      .addColumn('credential', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('project', 'text')
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('row_id', 'text', (column) => column.notNull())
      .addColumn('asking', 'text', (column) => column.notNull())
      .addColumn('ended', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('node_until', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('batches_pk', ['id', 'upstream'])
      .execute();
    await db.schema.createIndex('batches_due').on('batches').column('due_at').execute();
    await db.schema.createIndex('batches_project').on('batches').column('project').execute();
    // JSON: what the lines of a file ask for, as they were judged.
    await db.schema.alterTable('kept_objects').addColumn('input', 'text').execute();
    await sql`create index kept_batches on kept_objects (owner, created_at, id) where kind = 'batch'`.execute(db);
  },
};
