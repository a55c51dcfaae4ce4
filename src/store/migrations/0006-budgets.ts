/** The money of budgets: what each account has spent, what each node has drawn from it, and what was told of it. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const budgets: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('budget_accounts')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('holder_kind', 'text', (column) => column.notNull())
      .addColumn('holder_id', 'text', (column) => column.notNull())
      .addColumn('starts_at', 'bigint', (column) => column.notNull())
      .addColumn('ends_at', 'bigint')
      .addColumn('spent_nanos', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema
      .createTable('budget_leases')
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('drawn_nanos', 'bigint', (column) => column.notNull())
      // What rows of the node that are in the ledger have cost; also a part of what the account has spent.
      .addColumn('spent_nanos', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('budget_leases_pk', ['account', 'node'])
      .execute();
    // What is told once over all nodes, such as that a budget runs out.
    await db.schema
      .createTable('claims')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('claimed_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('budget_leases_node').on('budget_leases').column('node').execute();
  },
};
