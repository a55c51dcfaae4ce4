/** Lists all migrations by name, in the order in which they run. Released ones keep their names and their effect. */

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { isSqlite } from './ledger/ledger-insert.ts';
import { unitLeaves } from './ledger/ledger-sums.ts';
import type { Schema } from './schema.ts';
import { nextMinute } from './series/series-cells.ts';

/** A migration of SQL statements. `byKey` ends the definition of a table whose rows SQLite stores in the order of the primary key. */
const run = (toStatements: (db: Kysely<Schema>, byKey: string) => readonly string[]): Migration => ({
  async up(db: Kysely<Schema>) {
    const statements = toStatements(db, isSqlite(db) ? 'without rowid' : '');
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
});

/** A constraint against storing a secret by mistake: it has another length than its digest. */
const digestOf = (table: string): string => `constraint ${table}_digest_is_sha256 check (length(digest) = 64)`;

const groups = 'key, project, route, operation, model, upstream, outcome';
const groupColumns = `span bigint not null, ${groups.replaceAll(',', ' text not null,')} text not null`;
const groupKey = 'span, key, project, route, model, upstream, outcome';
const counts = [
  ...['requests', 'input_tokens', 'output_tokens', 'search_units', 'items', 'cost_nanos', 'unpriced', 'estimated'],
  ...['request_bytes', 'response_bytes'],
];
const sumColumns = [
  ...counts.map((count) => `${count} bigint not null`),
  'duration_ms double precision not null',
].join();
const sums = [...counts, 'duration_ms'].join(', ');

/** Values that nearly every row has: they are in no index, and in no slice. */
const common: Readonly<Record<string, string>> = { outcome: "outcome <> 'ok'", status: 'status <> 200' };
const sliced = ['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status'];
const sliceMs = 1_024;
const digitsOfTime = 12;
/** The start time in milliseconds, computed from the hex digits that begin an ID: every index has the ID. */
const startedAt = Array.from({ length: digitsOfTime }, (_, n) => {
  const digit = `(instr('0123456789abcdef', substr(id, ${n + 1}, 1)) - 1)`;
  return `(${digit} << ${4 * (digitsOfTime - 1 - n)})`;
}).join(' + ');

/** Columns of background answers and batches that are polled until their cost is known. `asking` and `ended` are JSON. */
const pollingColumns = `
  id text not null, upstream text not null, credential text not null, key text not null, project text,
  model text not null, row_id text not null, asking text not null, ended text, created_at bigint not null,
  due_at bigint not null, node text not null, node_until bigint not null`;

/** For each view: the table of daily sums with its columns after the first, and the table of hourly sums with the columns to match. */
const dayViews = {
  usage_all_days: ['usage_days', `${groups}, ${sums}`, 'usage_hours', `${groups}, ${sums}`],
  usage_all_key_days: [
    'usage_key_days',
    `key, project, errors, ${sums}`,
    'usage_hours',
    `key, project, case when outcome = 'ok' then 0 else requests end, ${sums}`,
  ],
  usage_all_unit_days: ['usage_unit_days', `${groups}, unit, amount`, 'usage_unit_hours', `${groups}, unit, amount`],
} as const;

export const usageRollupStep = '0023-usage-rollup';
export const compactStep = '0024-ledger-compact';
export const seriesStep = '0026-series';

const released: Readonly<Record<string, Migration>> = {
  '0001-keys': run(() => [
    `create table "keys" (
      id text primary key not null, name text not null, digest text not null unique, hint text not null, models text
      not null, operations text, addresses text, created_at bigint not null, expires_at bigint, revoked_at bigint,
      ${digestOf('keys')})`,
  ]),
  /** The latest health report of each node. */
  '0002-node-reports': run(() => [
    'create table node_reports (node text primary key not null, reported_at bigint not null, targets text not null)',
  ]),
  /** Limits of a key, its owner, and its previous secret. */
  '0003-key-caps': run(() => [
    // SQLite adds one column at a time.
    ...[
      'project text',
      'caps text',
      'metadata text',
      'capture_ms bigint',
      'old_digest text',
      'old_digest_until bigint',
    ].map((column) => `alter table keys add column ${column}`),
    'create unique index keys_old_digest on keys (old_digest)',
  ]),
  /** Configuration elements in the store, their changes, and who made them. */
  '0004-resources': run(() => [
    `create table resources (
      kind text not null, id text not null, document text not null, version bigint not null, created_at bigint not
      null, updated_at bigint not null, constraint resources_pk primary key (kind, id))`,
    // One row: a change locks it, so that changes become visible in the order of their numbers.
    'create table change_counter (id bigint primary key not null, latest bigint not null)',
    'insert into change_counter (id, latest) values (1, 0)',
    `create table changes (
      sequence bigint primary key not null, kind text not null, subject text not null, changed_at bigint not null)`,
    `create table audit (
      id text primary key not null, at bigint not null, actor text not null, action text not null, subject text not
      null, before text, after text)`,
    'create table settings (name text primary key not null, value text not null)',
  ]),
  '0005-ledger': run((_, byKey) => [
    // `tries` is a JSON list; null where there is nothing in it.
    `create table ledger (
      id text primary key not null, client_request_id text, started_at bigint not null, node text not null, key text
      not null, project text, route text not null, operation text not null, label text not null, model text, upstream
      text, upstream_model text, attempts bigint not null, tries text, outcome text not null, status bigint not null,
      error text, prompt_tokens bigint, completion_tokens bigint, total_tokens bigint, search_units bigint,
      cached_tokens bigint, billed_input_tokens bigint, billed_output_tokens bigint, billed_search_units bigint,
      is_estimated bigint not null, items bigint not null, cost_nanos bigint, request_bytes bigint not null,
      response_bytes bigint not null, duration_ms double precision not null, first_byte_ms double precision,
      upstream_ms double precision, cache text, client_address text)`,
    // IDs sort by time: each of these gives the newest of one kind without a sort.
    ...sliced.map((column) => {
      const rare = common[column];
      return `create index ledger_${column} on ledger (${column}, id) ${rare === undefined ? '' : `where ${rare}`}`;
    }),
    `create index ledger_client_request_id on ledger (client_request_id, id) where client_request_id is not null`,
    // In key order, rows are added up in half the time. A name that is null in a ledger row is an empty text here.
    ...['usage_hours', 'usage_days'].map(
      (name) =>
        `create table ${name} (${groupColumns}, ${sumColumns}, constraint ${name}_pk primary key (${groupKey})) ${byKey}`,
    ),
    `create table captures (
      id text primary key not null, request text not null, response text not null, expires_at bigint not null)`,
    'create index captures_expires_at on captures (expires_at)',
    `create table journals (
      id text primary key not null, segment bigint not null, position bigint not null, imported_at bigint not null)`,
    // One row: exchanges that began before this time are deleted, or are being deleted.
    'create table pruning (id bigint primary key not null, before bigint not null)',
  ]),
  /** The money of budgets: what each account has spent, what each node has drawn from it, and which alerts were sent. */
  '0006-budgets': run(() => [
    `create table budget_accounts (
      id text primary key not null, holder_kind text not null, holder_id text not null, starts_at bigint not null,
      ends_at bigint, spent_nanos bigint not null)`,
    // `spent_nanos`: the cost of the node's rows in the ledger; it is included in `spent_nanos` of the account.
    `create table budget_leases (
      account text not null, node text not null, drawn_nanos bigint not null, spent_nanos bigint not null, constraint
      budget_leases_pk primary key (account, node))`,
    // Notifications sent once over all nodes, such as that a budget runs out.
    'create table claims (name text primary key not null, claimed_at bigint not null)',
    'create index budget_leases_node on budget_leases (node)',
  ]),
  /** Members of the console and their means of signing in: sessions, tokens, passkeys, links. */
  '0007-access': run(() => [
    `create table members (
      id text primary key not null, email text not null unique, name text not null, role text not null, password_hash
      text, oidc_subject text unique, created_at bigint not null, last_seen_at bigint, disabled_at bigint)`,
    `create table sessions (
      digest text primary key not null, id text not null unique, member text not null, method text not null, address
      text not null, user_agent text not null, created_at bigint not null, seen_at bigint not null, expires_at bigint
      not null, ${digestOf('sessions')})`,
    'create index sessions_member on sessions (member)',
    `create table tokens (
      id text primary key not null, digest text not null unique, member text not null, name text not null, hint text
      not null, role text not null, created_at bigint not null, expires_at bigint, last_used_at bigint, revoked_at
      bigint, ${digestOf('tokens')})`,
    // `public_key` is base64url.
    `create table passkeys (
      id text primary key not null, member text not null, public_key text not null, counter bigint not null,
      transports text not null, name text not null, created_at bigint not null, last_used_at bigint)`,
    'create index passkeys_member on passkeys (member)',
    `create table invitations (
      id text primary key not null, digest text not null unique, kind text not null, email text, role text not null,
      member text, invited_by text not null, created_at bigint not null, expires_at bigint not null,
      ${digestOf('invitations')})`,
    `create table attempts (
      subject text primary key not null, failures bigint not null, failed_at bigint not null, blocked_until bigint not
      null)`,
    // One row: a change of roles locks it, so that the last owner is recognised as the last.
    'create table access_turn (id bigint primary key not null, turns bigint not null)',
    'insert into access_turn (id, turns) values (1, 0)',
  ]),
  /** Version of a key: of two changes at the same time, the second is refused. */
  '0008-key-versions': run(() => ['alter table keys add column version bigint default 1 not null']),
  '0009-key-days': run((_, byKey) => [
    `create table usage_key_days (
      span bigint not null, key text not null, project text not null, errors bigint not null, ${sumColumns},
      constraint usage_key_days_pk primary key (span, key, project)) ${byKey}`,
    `insert into usage_key_days (span, key, project, errors, ${sums})
      select span, key, project, sum(case when outcome = 'ok' then 0 else requests end),
        ${[...counts, 'duration_ms'].map((name) => `sum(${name})`)}
      from usage_days group by span, key, project`,
  ]),
  '0010-proofs': run(() => [
    'alter table sessions add column proved_at bigint',
    'alter table invitations add column kept text',
    // Tokens may not create links any more, and a link that one created before would stay valid for up to a week.
    "delete from invitations where invited_by like 'token: %'",
  ]),
  /** When each node that draws from budgets was last active: money that a lost node had drawn is returned. */
  '0011-budget-nodes': run(() => [
    'create table budget_nodes (node text primary key not null, heard_at bigint not null)',
  ]),
  '0012-key-shapes': run(() => ['alter table keys add column shape text']),
  /** For SQLite: the time slices in which the ledger has rows of each key, model and so on; replaces an index for each of them. */
  '0013-ledger-slices': run((db, byKey) =>
    isSqlite(db)
      ? [
          // `slice`: milliseconds since the epoch, divided by the length of a slice. A name that is null in a row is an empty text.
          `create table ledger_slices (
            kind text not null, name text not null, slice bigint not null, constraint ledger_slices_pk primary key
            (kind, name, slice)) ${byKey}`,
          // In the order of the index that is then dropped: nothing is sorted, only the index is read, and little memory is needed.
          ...sliced.flatMap((column) => [
            `insert or ignore into ledger_slices (kind, name, slice)
              select '${column}', cast(coalesce(${column}, '') as text), (${startedAt}) / ${sliceMs}
              from ledger indexed by ledger_${column} where ${common[column] ?? 'true'} order by ${column}, id`,
            `drop index ledger_${column}`,
          ]),
        ]
      : [],
  ),
};

/**
 * Steps that older versions tolerate: they add tables or nullable columns, or can be undone when they are set aside. Other steps belong into
 * `released`.
 */
const runBeside: Readonly<Record<string, Migration>> = {
  /** Objects that upstreams store for clients: the owner of each, and the upstream and credential that have it. */
  '0014-kept-objects': run((_, byKey) => [
    `create table kept_objects (
      id text not null, kind text not null, upstream text not null, owner text not null, credential text not null,
      model text not null, created_at bigint not null, constraint kept_objects_pk primary key (id, kind, upstream))
      ${byKey}`,
    'create index kept_objects_created on kept_objects (created_at)',
  ]),
  /** Answers that upstreams produce in the background, until their cost is known. */
  '0015-background-answers': run(() => [
    `create table background_answers (${pollingColumns}, constraint background_answers_pk primary key (id, upstream))`,
    'create index background_answers_due on background_answers (due_at)',
  ]),
  /** Facts of files that upstreams store for clients, to list them. */
  '0016-files': run(() => [
    'alter table kept_objects add column document text',
    "create index kept_files on kept_objects (owner, created_at, id) where kind = 'file'",
  ]),
  /** Batches of requests, and what their input files request. */
  '0017-batches': run(() => [
    // The same columns as those of background answers; in their table an earlier version would take batches for answers.
    `create table batches (${pollingColumns}, constraint batches_pk primary key (id, upstream))`,
    'create index batches_due on batches (due_at)',
    'create index batches_project on batches (project)',
    // JSON: the model and the request estimate of a batch's input file.
    'alter table kept_objects add column input text',
    "create index kept_batches on kept_objects (owner, created_at, id) where kind = 'batch'",
  ]),
  '0018-ledger-units': run(() => ['alter table ledger add column units text']),
  '0019-ledger-traces': run(() => ['alter table ledger add column trace_id text']),
  '0020-node-drift': run(() => ['alter table node_reports add column drift text']),
  /** Sums of what requests counted besides tokens: images, seconds, characters, tool calls, savings. */
  '0021-usage-units': run((db, byKey) => [
    ...['usage_unit_hours', 'usage_unit_days'].map(
      (name) =>
        `create table ${name} (${groupColumns}, unit text not null, amount double precision not null,
          constraint ${name}_pk primary key (${groupKey}, unit)) ${byKey}`,
    ),
    `insert into usage_unit_hours
      select started_at - started_at % 3600000, key, coalesce(project, ''), route, min(operation), coalesce(model, ''),
        coalesce(upstream, ''), outcome, unit, sum(amount)
      from (${unitLeaves(isSqlite(db)).compile(db).sql}) as leaves
      group by 1, 2, 3, 4, 6, 7, 8, 9`,
    `insert into usage_unit_days
      select span - span % 86400000, key, project, route, min(operation), model, upstream, outcome, unit, sum(amount)
      from usage_unit_hours group by 1, 2, 3, 4, 6, 7, 8, 9`,
  ]),
  '0022-node-secret-keys': run(() => ['alter table node_reports add column secret_keys text']),
  /** In SQLite the daily sums lack the latest hours until these are rolled up; views have both. In PostgreSQL the views show the tables. */
  [usageRollupStep]: run((db) => [
    ...(isSqlite(db)
      ? [
          'create table usage_rollup (id bigint primary key not null, before bigint not null)',
          // Former versions added each row to its hour and its day, so all hours so far are in the daily sums.
          'insert into usage_rollup select 1, coalesce(max(span), 0) + 3600000 from usage_hours',
        ]
      : []),
    ...Object.entries(dayViews).map(([view, [days, columns, hours, ofHour]]) => {
      const later = `union all select span - span % 86400000, ${ofHour} from ${hours}
        where span >= (select before from usage_rollup)`;
      return `create view ${view} as select span, ${columns} from ${days} ${isSqlite(db) ? later : ''}`;
    }),
  ]),
  /** In SQLite new ledger rows go into a table of numbers; values that many rows share are stored once in another table. */
  [compactStep]: run((db) =>
    isSqlite(db)
      ? [
          `create table ledger_places (
            id integer primary key, used_at integer not null, node text not null, key text not null, project text,
            route text not null, operation text not null, label text not null, model text, upstream text,
            upstream_model text, outcome text not null, status integer not null, error text, is_estimated integer not
            null, cache text)`,
          'create index ledger_places_used_at on ledger_places (used_at)',
          `create table ledger_rows (
            seq integer primary key, rest text not null, place integer not null, attempts integer not null,
            prompt_tokens integer, completion_tokens integer, total_tokens integer, cached_tokens integer,
            billed_input_tokens integer, billed_output_tokens integer, billed_search_units integer, items integer not
            null, cost_nanos integer, request_bytes integer not null, response_bytes integer not null, duration_ms
            real not null, first_byte_ms real, upstream_ms real, client_request_id text, more text)`,
          `create index ledger_rows_client_request_id on ledger_rows (client_request_id, seq)
            where client_request_id is not null`,
        ]
      : [],
  ),
  '0025-key-lanes': run(() => ['alter table keys add column lane text']),
  /** Blocks of counts and sketches by minute, hour and day. Requests from before this step are in no block. */
  [seriesStep]: run((db) => [
    `create table series_blocks (
      id ${isSqlite(db) ? 'integer' : 'bigserial'} primary key, level integer not null, section integer not null, at
      bigint not null, rolled integer not null, data ${isSqlite(db) ? 'blob' : 'bytea'} not null)`,
    'create index series_blocks_at on series_blocks (level, section, at)',
    'create index series_blocks_loose on series_blocks (level, at) where rolled = 0',
    'create table series_since (id bigint primary key not null, at bigint not null)',
    `insert into series_since
      select 1, case when exists (select 1 from usage_hours) then ${nextMinute(Date.now())} else 0 end`,
  ]),
  '0027-ledger-queue': run(() => ['alter table ledger add column queue_ms double precision']),
  /** Alerts that are or were open, and the lease of the node that evaluates alert rules. */
  '0028-alerts': run(() => [
    `create table alerts (
      id text primary key not null, rule text not null, kind text not null, subject text not null, severity text not
      null, cause text not null, explore text, opened_at bigint not null, closed_at bigint, silenced_until bigint,
      untold text)`,
    'create index alerts_untold on alerts (id) where untold is not null',
    'create index alerts_open on alerts (id) where closed_at is null',
    'create table alert_lease (id bigint primary key not null, holder text not null, until bigint not null)',
  ]),
  '0029-ledger-connect': run(() => ['alter table ledger add column connect_ms double precision']),
};

export const migrations: Readonly<Record<string, Migration>> = { ...released, ...runBeside };

export const passedOver: ReadonlySet<string> = new Set(Object.keys(runBeside));

/** The last migration of each released version. */
export const lastStepOf: Readonly<Record<string, string>> = {
  '0.1.0': '0013-ledger-slices',
};
