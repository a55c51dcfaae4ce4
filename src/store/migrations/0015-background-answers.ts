/** Answers that upstreams make in the background, until what they cost is known. */

import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const backgroundAnswers: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('background_answers')
      .addColumn('id', 'text', (column) => column.notNull())
      .addColumn('upstream', 'text', (column) => column.notNull())
      .addColumn('credential', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('project', 'text')
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('row_id', 'text', (column) => column.notNull())
      // JSON: what it may cost at most, and likely.
      .addColumn('asking', 'text', (column) => column.notNull())
      // JSON: how it ended, where that is known and not settled yet.
      .addColumn('ended', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      // In whose hands it is, and until when.
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('node_until', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('background_answers_pk', ['id', 'upstream'])
      .execute();
    await db.schema.createIndex('background_answers_due').on('background_answers').column('due_at').execute();
  },
};
