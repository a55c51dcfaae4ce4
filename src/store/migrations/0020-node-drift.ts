/** What a node knows of models that change, beside what it says of its targets. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const nodeDrift: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('node_reports').addColumn('drift', 'text').execute();
  },
};
