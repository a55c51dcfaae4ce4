/** In SQLite the sums by day lack the latest hours, until these are rolled up; views have both. In PostgreSQL the views are the tables. */

import { type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const sums = [
  ...['requests', 'input_tokens', 'output_tokens', 'search_units', 'items', 'cost_nanos', 'unpriced', 'estimated'],
  ...['request_bytes', 'response_bytes', 'duration_ms'],
].join(', ');
const places = 'key, project, route, operation, model, upstream, outcome';

/** Of each table of sums by day: its columns after the first, and the same of a line of sums by hour. */
const views = {
  usage_all_days: {
    days: 'usage_days',
    columns: `${places}, ${sums}`,
    hours: 'usage_hours',
    ofHour: `${places}, ${sums}`,
  },
  usage_all_key_days: {
    days: 'usage_key_days',
    columns: `key, project, errors, ${sums}`,
    hours: 'usage_hours',
    ofHour: `key, project, case when outcome = 'ok' then 0 else requests end, ${sums}`,
  },
  usage_all_unit_days: {
    days: 'usage_unit_days',
    columns: `${places}, unit, amount`,
    hours: 'usage_unit_hours',
    ofHour: `${places}, unit, amount`,
  },
};

export const usageRollup: Migration = {
  async up(db: Kysely<unknown>) {
    const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
    if (isSqlite) {
      await sql`create table usage_rollup (id bigint primary key not null, before bigint not null)`.execute(db);
      // Former versions added each row to both.
      await sql`insert into usage_rollup select 1, coalesce(max(span), 0) + 3600000 from usage_hours`.execute(db);
    }
    for (const [view, { days, columns, hours, ofHour }] of Object.entries(views)) {
      const later = `union all select span - span % 86400000, ${ofHour} from ${hours}
        where span >= (select before from usage_rollup)`;
      await sql`create view ${sql.table(view)} as
        select span, ${sql.raw(columns)} from ${sql.table(days)} ${sql.raw(isSqlite ? later : '')}`.execute(db);
    }
  },
};
