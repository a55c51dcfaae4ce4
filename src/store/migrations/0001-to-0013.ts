/** Schema migrations up to version 0.1.0. Released ones never change. */

import { type CreateTableBuilder, type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addedKeyColumns } from '../key-columns.ts';

const sliceMs = 1_024;

/** What nearly every row has is in no index, and in no slice. */
const rare: Readonly<Record<string, string>> = { outcome: "outcome <> 'ok'", status: 'status <> 200' };

const digitsOfTime = 12;
/** In milliseconds, of the hex digits that an ID begins with: it is in each index. */
const startedAt = sql.raw(
  `(${Array.from({ length: digitsOfTime }, (_, n) => {
    const digit = `(instr('0123456789abcdef', substr(id, ${n + 1}, 1)) - 1)`;
    return `(${digit} << ${4 * (digitsOfTime - 1 - n)})`;
  }).join(' + ')})`,
);

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

const summed = [
  ...['requests', 'input_tokens', 'output_tokens', 'search_units', 'items', 'cost_nanos', 'unpriced', 'estimated'],
  ...['request_bytes', 'response_bytes', 'duration_ms'],
];

export const released: Readonly<Record<string, Migration>> = {
  /** Virtual keys. */
  '0001-keys': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('keys')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('digest', 'text', (column) => column.notNull().unique())
        .addColumn('hint', 'text', (column) => column.notNull())
        .addColumn('models', 'text', (column) => column.notNull())
        .addColumn('operations', 'text')
        .addColumn('addresses', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint')
        .addColumn('revoked_at', 'bigint')
        // A secret put here by mistake has another length.
        .addCheckConstraint('keys_digest_is_sha256', sql`length(digest) = 64`)
        .execute();
    },
  },
  /** What each node said last of its targets. */
  '0002-node-reports': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('node_reports')
        .addColumn('node', 'text', (column) => column.primaryKey().notNull())
        .addColumn('reported_at', 'bigint', (column) => column.notNull())
        .addColumn('targets', 'text', (column) => column.notNull())
        .execute();
    },
  },
  /** What a key is capped by, whom it belongs to, and the secret that it had before. */
  '0003-key-caps': {
    async up(db: Kysely<unknown>) {
      // SQLite adds one column at a time.
      await db.schema.alterTable('keys').addColumn('project', 'text').execute();
      await db.schema.alterTable('keys').addColumn('caps', 'text').execute();
      await db.schema.alterTable('keys').addColumn('metadata', 'text').execute();
      await db.schema.alterTable('keys').addColumn('capture_ms', 'bigint').execute();
      await db.schema.alterTable('keys').addColumn('old_digest', 'text').execute();
      await db.schema.alterTable('keys').addColumn('old_digest_until', 'bigint').execute();
      await db.schema.createIndex('keys_old_digest').on('keys').column('old_digest').unique().execute();
    },
  },
  /** What is configured in the store, what changed and who changed it. */
  '0004-resources': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('resources')
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('id', 'text', (column) => column.notNull())
        .addColumn('document', 'text', (column) => column.notNull())
        .addColumn('version', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('resources_pk', ['kind', 'id'])
        .execute();
      // One row: whoever changes something locks it, so that changes become visible in the order of their numbers.
      await db.schema
        .createTable('change_counter')
        .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
        .addColumn('latest', 'bigint', (column) => column.notNull())
        .execute();
      await sql`insert into change_counter (id, latest) values (1, 0)`.execute(db);
      await db.schema
        .createTable('changes')
        .addColumn('sequence', 'bigint', (column) => column.primaryKey().notNull())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('changed_at', 'bigint', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('audit')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('actor', 'text', (column) => column.notNull())
        .addColumn('action', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('before', 'text')
        .addColumn('after', 'text')
        .execute();
      await db.schema
        .createTable('settings')
        .addColumn('name', 'text', (column) => column.primaryKey().notNull())
        .addColumn('value', 'text', (column) => column.notNull())
        .execute();
    },
  },
  ...addedKeyColumns,
  /** In SQLite the slices of time in which the ledger has rows of a thing, in place of an index for each kind of thing. */
  '0013-ledger-slices': {
    async up(db: Kysely<unknown>) {
      if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
      await db.schema
        .createTable('ledger_slices')
        .addColumn('kind', 'text', (column) => column.notNull())
        // What is null in a row is empty text here.
        .addColumn('name', 'text', (column) => column.notNull())
        // Milliseconds since the epoch, divided by the length of one.
        .addColumn('slice', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('ledger_slices_pk', ['kind', 'name', 'slice'])
        .modifyEnd(sql`without rowid`)
        .execute();
      for (const column of ['key', 'project', 'model', 'upstream', 'operation', 'outcome', 'status']) {
        const index = sql.ref(`ledger_${column}`);
        const name = sql`cast(coalesce(${sql.ref(column)}, '') as text)`;
        // In the order of the index that goes: nothing is sorted, nothing is read but the index, and little memory is needed.
        await sql`
          insert or ignore into ledger_slices (kind, name, slice)
          select ${sql.lit(column)}, ${name}, ${startedAt} / ${sql.lit(sliceMs)}
          from ledger indexed by ${index} where ${sql.raw(rare[column] ?? 'true')} order by ${sql.ref(column)}, id`.execute(
          db,
        );
        await db.schema.dropIndex(`ledger_${column}`).execute();
      }
    },
  },
  '0005-ledger': {
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
  },
  /** The money of budgets: what each account has spent, what each node has drawn from it, and what was told of it. */
  '0006-budgets': {
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
  },
  /** Members of the console, and what proves who they are: sessions, tokens, passkeys, links. */
  '0007-access': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('members')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('email', 'text', (column) => column.notNull().unique())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('password_hash', 'text')
        .addColumn('oidc_subject', 'text', (column) => column.unique())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_seen_at', 'bigint')
        .addColumn('disabled_at', 'bigint')
        .execute();
      // A secret put here by mistake has another length than its digest.
      const isDigest = sql`length(digest) = 64`;
      await db.schema
        .createTable('sessions')
        .addColumn('digest', 'text', (column) => column.primaryKey().notNull())
        .addColumn('id', 'text', (column) => column.notNull().unique())
        .addColumn('member', 'text', (column) => column.notNull())
        .addColumn('method', 'text', (column) => column.notNull())
        .addColumn('address', 'text', (column) => column.notNull())
        .addColumn('user_agent', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('seen_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .addCheckConstraint('sessions_digest_is_sha256', isDigest)
        .execute();
      await db.schema.createIndex('sessions_member').on('sessions').column('member').execute();
      await db.schema
        .createTable('tokens')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('digest', 'text', (column) => column.notNull().unique())
        .addColumn('member', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('hint', 'text', (column) => column.notNull())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint')
        .addColumn('last_used_at', 'bigint')
        .addColumn('revoked_at', 'bigint')
        .addCheckConstraint('tokens_digest_is_sha256', isDigest)
        .execute();
      await db.schema
        .createTable('passkeys')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('member', 'text', (column) => column.notNull())
        // base64url
        .addColumn('public_key', 'text', (column) => column.notNull())
        .addColumn('counter', 'bigint', (column) => column.notNull())
        .addColumn('transports', 'text', (column) => column.notNull())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_used_at', 'bigint')
        .execute();
      await db.schema.createIndex('passkeys_member').on('passkeys').column('member').execute();
      await db.schema
        .createTable('invitations')
        .addColumn('id', 'text', (column) => column.primaryKey().notNull())
        .addColumn('digest', 'text', (column) => column.notNull().unique())
        .addColumn('kind', 'text', (column) => column.notNull())
        .addColumn('email', 'text')
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('member', 'text')
        .addColumn('invited_by', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .addCheckConstraint('invitations_digest_is_sha256', isDigest)
        .execute();
      await db.schema
        .createTable('attempts')
        .addColumn('subject', 'text', (column) => column.primaryKey().notNull())
        .addColumn('failures', 'bigint', (column) => column.notNull())
        .addColumn('failed_at', 'bigint', (column) => column.notNull())
        .addColumn('blocked_until', 'bigint', (column) => column.notNull())
        .execute();
      // One row: whoever changes who may what locks it, so that the last owner is seen to be the last.
      await db.schema
        .createTable('access_turn')
        .addColumn('id', 'bigint', (column) => column.primaryKey().notNull())
        .addColumn('turns', 'bigint', (column) => column.notNull())
        .execute();
      await sql`insert into access_turn (id, turns) values (1, 0)`.execute(db);
    },
  },
  /** How often a key was changed, so that of two who change it at the same time, one is told. */
  '0008-key-versions': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('keys')
        .addColumn('version', 'bigint', (column) => column.notNull().defaultTo(1))
        .execute();
    },
  },
  '0009-key-days': {
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
  },
  '0010-proofs': {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('sessions').addColumn('proved_at', 'bigint').execute();
      await db.schema.alterTable('invitations').addColumn('kept', 'text').execute();
      // No token may hand out a link any more: what one handed out before would be good for up to a week.
      await sql`delete from invitations where invited_by like 'token: %'`.execute(db);
    },
  },
  /** When each node that draws from budgets was heard of last: what one drew that is lost for good comes back. */
  '0011-budget-nodes': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('budget_nodes')
        .addColumn('node', 'text', (column) => column.primaryKey().notNull())
        .addColumn('heard_at', 'bigint', (column) => column.notNull())
        .execute();
    },
  },
};
