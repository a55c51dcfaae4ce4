/** Members of the console, and what proves who they are: sessions, tokens, passkeys, links. */

import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const access: Migration = {
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
};
