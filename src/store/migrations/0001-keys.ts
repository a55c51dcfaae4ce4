/** Virtual keys. */

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keys: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('keys')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('digest', 'text', (column) => column.notNull().unique())
      .addColumn('hint', 'text', (column) => column.notNull())
      .addColumn('models', 'text', (column) => column.notNull())
      .addColumn('operations', 'text')
      .addColumn('addresses', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      // A secret put here by mistake has another length.
      .addCheckConstraint('keys_digest_is_sha256', sql`length(digest) = 64`)
      .execute();
  },
};
