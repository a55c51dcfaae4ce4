/** The ledger: a row for each exchange, sums by hour and by day, what was captured, and how far each journal was read. */

import { type CreateTableBuilder, type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const ledger: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('ledger')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('client_request_id', 'text')
      .addColumn('started_at', 'bigint', (column) => column.notNull())
      .addColumn('node', 'text', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('project', 'text')
      .addColumn('route', 'text', (column) => column.notNull())
      .addColumn('operation', 'text', (column) => column.notNull())
      .addColumn('label', 'text', (column) => column.notNull())
      .addColumn('model', 'text')
      .addColumn('upstream', 'text')
      .addColumn('upstream_model', 'text')
      .addColumn('attempts', 'bigint', (column) => column.notNull())
      // A JSON list; null where there is nothing in it.
      .addColumn('tries', 'text')
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('status', 'bigint', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('prompt_tokens', 'bigint')
      .addColumn('completion_tokens', 'bigint')
      .addColumn('total_tokens', 'bigint')
      .addColumn('search_units', 'bigint')
      .addColumn('cached_tokens', 'bigint')
      .addColumn('billed_input_tokens', 'bigint')
      .addColumn('billed_output_tokens', 'bigint')
      .addColumn('billed_search_units', 'bigint')
      .addColumn('is_estimated', 'bigint', (column) => column.notNull())
      .addColumn('items', 'bigint', (column) => column.notNull())
      .addColumn('cost_nanos', 'bigint')
      .addColumn('request_bytes', 'bigint', (column) => column.notNull())
      .addColumn('response_bytes', 'bigint', (column) => column.notNull())
      .addColumn('duration_ms', 'double precision', (column) => column.notNull())
      .addColumn('first_byte_ms', 'double precision')
      .addColumn('upstream_ms', 'double precision')
      .addColumn('cache', 'text')
      .addColumn('client_address', 'text')
      .execute();
    // IDs sort by time: each of these gives the newest of one kind without a sort.
    for (const column of ['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status']) {
      const index = db.schema.createIndex(`ledger_${column}`).on('ledger').columns([column, 'id']);
      // What nearly every row has is found by time as quickly.
      const rare = column === 'outcome' ? index.where('outcome' as never, '<>', 'ok') : index;
      await (column === 'status' ? rare.where('status' as never, '<>', 200) : rare).execute();
    }
    await db.schema
      .createIndex('ledger_client_request_id')
      .on('ledger')
      .columns(['client_request_id', 'id'])
      .where('client_request_id' as never, 'is not', null)
      .execute();
    for (const name of ['usage_hours', 'usage_days']) {
      const table = withSums(db.schema.createTable(name), name);
      // In SQLite the rows stand in the order of the key itself then, and are added up in half the time.
      const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
      await (isSqlite ? table.modifyEnd(sql`without rowid`) : table).execute();
    }
    await db.schema
      .createTable('captures')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('request', 'text', (column) => column.notNull())
      .addColumn('response', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await db.schema.createIndex('captures_expires_at').on('captures').column('expires_at').execute();
    await db.schema
      .createTable('journals')
      .addColumn('id', 'text', (column) => column.primaryKey().notNull())
      .addColumn('segment', 'bigint', (column) => column.notNull())
      .addColumn('position', 'bigint', (column) => column.notNull())
      .addColumn('imported_at', 'bigint', (column) => column.notNull())
      .execute();
    // One row: what began before is gone, or going.
    await db.schema
      .createTable('pruning')
      .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
      .addColumn('before', 'bigint', (column) => column.notNull())
      .execute();
  },
};

function withSums(table: CreateTableBuilder<string>, name: string) {
  return (
    table
      // Milliseconds since the epoch, at the beginning of the span. What is null in a row is empty text here.
      .addColumn('span', 'bigint', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('project', 'text', (column) => column.notNull())
      .addColumn('route', 'text', (column) => column.notNull())
      .addColumn('operation', 'text', (column) => column.notNull())
      .addColumn('model', 'text', (column) => column.notNull())
      .addColumn('upstream', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('requests', 'bigint', (column) => column.notNull())
      .addColumn('input_tokens', 'bigint', (column) => column.notNull())
      .addColumn('output_tokens', 'bigint', (column) => column.notNull())
      .addColumn('search_units', 'bigint', (column) => column.notNull())
      .addColumn('items', 'bigint', (column) => column.notNull())
      .addColumn('cost_nanos', 'bigint', (column) => column.notNull())
      .addColumn('unpriced', 'bigint', (column) => column.notNull())
      .addColumn('estimated', 'bigint', (column) => column.notNull())
      .addColumn('request_bytes', 'bigint', (column) => column.notNull())
      .addColumn('response_bytes', 'bigint', (column) => column.notNull())
      .addColumn('duration_ms', 'double precision', (column) => column.notNull())
      .addPrimaryKeyConstraint(`${name}_pk`, ['span', 'key', 'project', 'route', 'model', 'upstream', 'outcome'])
  );
}
