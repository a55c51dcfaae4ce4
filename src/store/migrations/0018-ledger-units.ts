/** What a request counted beside tokens, in its row. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const ledgerUnits: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('ledger').addColumn('units', 'text').execute();
  },
};
