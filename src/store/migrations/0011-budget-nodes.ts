/** When each node that draws from budgets was heard of last: what one drew that is lost for good comes back. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const budgetNodes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('budget_nodes')
      .addColumn('node', 'text', (column) => column.primaryKey().notNull())
      .addColumn('heard_at', 'bigint', (column) => column.notNull())
      .execute();
  },
};
