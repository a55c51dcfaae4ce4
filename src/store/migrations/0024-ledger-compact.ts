/** In SQLite new rows of the ledger go into a table of numbers; what most rows have in common is a line of another. */

import { type Kysely, SqliteAdapter, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const ledgerCompact: Migration = {
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
};
