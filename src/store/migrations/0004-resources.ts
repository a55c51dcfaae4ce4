/** What is configured in the store, what changed and who changed it. */

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const resources: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('resources')
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('document', 'text', (column) => column.notNull())
      .addColumn('version', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('resources_pk', ['kind', 'id'])
      .execute();
    // One row: whoever changes something locks it, so that changes become visible in the order of their numbers.
    await db.schema
      .createTable('change_counter')
      .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
      .addColumn('latest', 'bigint', (column) => column.notNull())
      .execute();
    await sql`insert into change_counter (id, latest) values (1, 0)`.execute(db);
    await db.schema
      .createTable('changes')
      .addColumn('sequence', 'bigint', (column) => column.primaryKey().notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('changed_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('audit')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('actor', 'text', (column) => column.notNull())
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('before', 'text')
      .addColumn('after', 'text')
      .execute();
    await db.schema
      .createTable('settings')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute();
  },
};
