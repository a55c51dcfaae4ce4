/** The trace that a request was part of, in its row. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const ledgerTraces: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('ledger').addColumn('trace_id', 'text').execute();
  },
};
