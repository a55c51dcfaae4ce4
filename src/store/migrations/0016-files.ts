/** What is said of the files that upstreams keep for clients, for lists of them. */

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const files: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('kept_objects').addColumn('document', 'text').execute();
    await sql`create index kept_files on kept_objects (owner, created_at, id) where kind = 'file'`.execute(db);
  },
};
