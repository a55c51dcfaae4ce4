/** Which keys for the secrets in the store a node holds, by their IDs. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const nodeSecretKeys: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('node_reports').addColumn('secret_keys', 'text').execute();
  },
};
