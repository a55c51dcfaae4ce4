/** Sums by day of each key alone: who asks for keys and days reads one line for each, whatever the models and upstreams. */

import { type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const summed = [
  ...['requests', 'input_tokens', 'output_tokens', 'search_units', 'items', 'cost_nanos', 'unpriced', 'estimated'],
  ...['request_bytes', 'response_bytes', 'duration_ms'],
];

export const keyDays: Migration = {
  async up(db: Kysely<unknown>) {
    let table = db.schema
      .createTable('usage_key_days')
      .addColumn('span', 'bigint', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('project', 'text', (column) => column.notNull())
      .addColumn('errors', 'bigint', (column) => column.notNull());
    for (const name of summed) {
      const type = name === 'duration_ms' ? 'double precision' : 'bigint';
      table = table.addColumn(name, type, (column) => column.notNull());
    }
    table = table.addPrimaryKeyConstraint('usage_key_days_pk', ['span', 'key', 'project']);
    const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
    await (isSqlite ? table.modifyEnd(sql`without rowid`) : table).execute();
    const names = sql.join(summed.map((name) => sql.ref(name)));
    const sums = sql.join(summed.map((name) => sql`sum(${sql.ref(name)})`));
    await sql`
      insert into usage_key_days (span, key, project, errors, ${names})
      select span, key, project, sum(case when outcome = 'ok' then 0 else requests end), ${sums}
      from usage_days group by span, key, project`.execute(db);
  },
};
