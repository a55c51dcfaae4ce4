/** How often a key was changed, so that of two who change it at the same time, one is told. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keyVersions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('keys')
      .addColumn('version', 'bigint', (column) => column.notNull().defaultTo(1))
      .execute();
  },
};
