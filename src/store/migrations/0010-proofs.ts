/** When a session last proved who uses it, and what a link for another password leaves alone. Links that API tokens made end. */

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const proofs: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('sessions').addColumn('proved_at', 'bigint').execute();
    await db.schema.alterTable('invitations').addColumn('kept', 'text').execute();
    // No token may hand out a link any more: what one handed out before would be good for up to a week.
    await sql`delete from invitations where invited_by like 'token: %'`.execute(db);
  },
};
