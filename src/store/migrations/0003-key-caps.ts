/** What a key is capped by, whom it belongs to, and the secret that it had before. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const keyCaps: Migration = {
  async up(db: Kysely<unknown>) {
    // SQLite adds one column at a time.
    await db.schema.alterTable('keys').addColumn('project', 'text').execute();
    await db.schema.alterTable('keys').addColumn('caps', 'text').execute();
    await db.schema.alterTable('keys').addColumn('metadata', 'text').execute();
    await db.schema.alterTable('keys').addColumn('capture_ms', 'bigint').execute();
    await db.schema.alterTable('keys').addColumn('old_digest', 'text').execute();
    await db.schema.alterTable('keys').addColumn('old_digest_until', 'bigint').execute();
    await db.schema.createIndex('keys_old_digest').on('keys').column('old_digest').unique().execute();
  },
};
