/** What each node said last of its targets. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const nodeReports: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('node_reports')
      .addColumn('node', 'text', (column) => column.primaryKey().notNull())
      .addColumn('reported_at', 'bigint', (column) => column.notNull())
      .addColumn('targets', 'text', (column) => column.notNull())
      .execute();
  },
};
