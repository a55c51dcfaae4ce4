/** Schema migrations since version 0.1.0. Released ones never change. */

import { type CreateTableBuilder, type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { unitLeaves } from '../ledger/ledger-sums.ts';
import { nextMinute } from '../series/series-cells.ts';

const unitPlaces = ['span', 'key', 'project', 'route', 'operation', 'model', 'upstream', 'outcome', 'unit'] as const;

function withPlaces(table: CreateTableBuilder<string>) {
  let result: CreateTableBuilder<string, string> = table;
  for (const place of unitPlaces) {
    result = result.addColumn(place, place === 'span' ? 'bigint' : 'text', (column) => column.notNull());
  }
  return result;
}

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

export const later: Readonly<Record<string, Migration>> = {
  /** What upstreams keep for clients: whose it is, and which upstream and credential hold it. */
  '0014-kept-objects': {
    async up(db: Kysely<unknown>) {
      const table = db.schema
        .createTable('kept_objects')
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('upstream', 'text', (column) => column.notNull())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('credential', 'text', (column) => column.notNull())
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('kept_objects_pk', ['id', 'kind', 'upstream']);
      const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
      await (isSqlite ? table.modifyEnd(sql`without rowid`) : table).execute();
      await db.schema.createIndex('kept_objects_created').on('kept_objects').column('created_at').execute();
    },
  },
  /** Answers that upstreams make in the background, until what they cost is known. */
  '0015-background-answers': {
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
  },
  /** What is said of the files that upstreams keep for clients, for lists of them. */
  '0016-files': {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('kept_objects').addColumn('document', 'text').execute();
      await sql`create index kept_files on kept_objects (owner, created_at, id) where kind = 'file'`.execute(db);
    },
  },
  /** Batches of requests, until what they cost is known; and what the files ask for that they are made of. */
  '0017-batches': {
    async up(db: Kysely<unknown>) {
      // As answers that are made in the background; an earlier version would take them for these.
      await db.schema
        .createTable('batches')
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('upstream', 'text', (column) => column.notNull())
        .addColumn('credential', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('project', 'text')
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('row_id', 'text', (column) => column.notNull())
        .addColumn('asking', 'text', (column) => column.notNull())
        .addColumn('ended', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('due_at', 'bigint', (column) => column.notNull())
        .addColumn('node', 'text', (column) => column.notNull())
        .addColumn('node_until', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('batches_pk', ['id', 'upstream'])
        .execute();
      await db.schema.createIndex('batches_due').on('batches').column('due_at').execute();
      await db.schema.createIndex('batches_project').on('batches').column('project').execute();
      // JSON: what the lines of a file ask for, as they were judged.
      await db.schema.alterTable('kept_objects').addColumn('input', 'text').execute();
      await sql`create index kept_batches on kept_objects (owner, created_at, id) where kind = 'batch'`.execute(db);
    },
  },
  /** What a request counted beside tokens, in its row. */
  '0018-ledger-units': {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('ledger').addColumn('units', 'text').execute();
    },
  },
  /** The trace that a request was part of, in its row. */
  '0019-ledger-traces': {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('ledger').addColumn('trace_id', 'text').execute();
    },
  },
  /** What a node knows of models that change, beside what it says of its targets. */
  '0020-node-drift': {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('node_reports').addColumn('drift', 'text').execute();
    },
  },
  /**
   * Sums by hour and by day of what requests counted beside tokens: images, seconds, characters, calls of tools, what
   * was saved.
   */
  '0021-usage-units': {
    async up(db: Kysely<unknown>) {
      const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
      for (const name of ['usage_unit_hours', 'usage_unit_days']) {
        const table = withPlaces(db.schema.createTable(name))
          .addColumn('amount', 'double precision', (column) => column.notNull())
          .addPrimaryKeyConstraint(
            `${name}_pk`,
            unitPlaces.filter((place) => place !== 'operation'),
          );
        await (isSqlite ? table.modifyEnd(sql`without rowid`) : table).execute();
      }
      await sql`
        insert into usage_unit_hours
        select started_at - started_at % 3600000, key, coalesce(project, ''), route, min(operation), coalesce(model, ''),
          coalesce(upstream, ''), outcome, unit, sum(amount)
        from (${unitLeaves(isSqlite)}) as leaves
        group by 1, 2, 3, 4, 6, 7, 8, 9`.execute(db);
      await sql`
        insert into usage_unit_days
        select span - span % 86400000, key, project, route, min(operation), model, upstream, outcome, unit, sum(amount)
        from usage_unit_hours group by 1, 2, 3, 4, 6, 7, 8, 9`.execute(db);
    },
  },
  /** Which keys for the secrets in the store a node holds, by their IDs. */
  '0022-node-secret-keys': {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('node_reports').addColumn('secret_keys', 'text').execute();
    },
  },
  /**
   * In SQLite the sums by day lack the latest hours, until these are rolled up; views have both. In PostgreSQL the
   * views are the tables.
   */
  '0023-usage-rollup': {
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
  },
  /** In SQLite new rows of the ledger go into a table of numbers; what most rows have in common is a line of another. */
  '0024-ledger-compact': {
    async up(db: Kysely<unknown>) {
      if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
      await sql`
        create table ledger_places (
          id integer primary key, used_at integer not null, node text not null, key text not null, project text,
          route text not null, operation text not null, label text not null, model text, upstream text, upstream_model text,
          outcome text not null, status integer not null, error text, is_estimated integer not null, cache text)`.execute(
        db,
      );
      await sql`create index ledger_places_used_at on ledger_places (used_at)`.execute(db);
      await sql`
        create table ledger_rows (
          seq integer primary key, rest text not null, place integer not null, attempts integer not null, prompt_tokens integer,
          completion_tokens integer, total_tokens integer, cached_tokens integer, billed_input_tokens integer,
          billed_output_tokens integer, billed_search_units integer, items integer not null, cost_nanos integer,
          request_bytes integer not null, response_bytes integer not null, duration_ms real not null, first_byte_ms real,
          upstream_ms real, client_request_id text, more text)`.execute(db);
      await sql`
        create index ledger_rows_client_request_id on ledger_rows (client_request_id, seq)
        where client_request_id is not null`.execute(db);
    },
  },
  /** Counts and sketches of what happened, by minute, hour and day, in blocks. Rows from before are in none of them. */
  '0026-series': {
    async up(db: Kysely<unknown>) {
      const isSqlite = db.getExecutor().adapter instanceof SqliteAdapter;
      await sql`
        create table series_blocks (
          id ${sql.raw(isSqlite ? 'integer primary key' : 'bigserial primary key')}, level integer not null,
          section integer not null, at bigint not null, rolled integer not null,
          data ${sql.raw(isSqlite ? 'blob' : 'bytea')} not null)`.execute(db);
      await sql`create index series_blocks_at on series_blocks (level, section, at)`.execute(db);
      await sql`create index series_blocks_loose on series_blocks (level, at) where rolled = 0`.execute(db);
      await sql`create table series_since (id bigint primary key not null, at bigint not null)`.execute(db);
      const { rows } = await sql`select 1 from usage_hours limit 1`.execute(db);
      await sql`insert into series_since values (1, ${rows.length === 0 ? 0 : nextMinute(Date.now())})`.execute(db);
    },
  },
  /** How long a request waited for an upstream, in its row. */
  '0027-ledger-queue': {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('ledger').addColumn('queue_ms', 'double precision').execute();
    },
  },
  /** Alerts that are open or were, and the lease of the node that watches for all. */
  '0028-alerts': {
    async up(db: Kysely<unknown>) {
      await sql`
        create table alerts (
          id text primary key not null, rule text not null, kind text not null, subject text not null,
          severity text not null, cause text not null, explore text, opened_at bigint not null, closed_at bigint,
          silenced_until bigint, untold text)`.execute(db);
      await sql`create index alerts_untold on alerts (id) where untold is not null`.execute(db);
      await sql`create index alerts_open on alerts (id) where closed_at is null`.execute(db);
      await sql`create table alert_lease (id bigint primary key not null, holder text not null, until bigint not null)`.execute(
        db,
      );
    },
  },
};
