/** Sessions and failed sign-in attempts in the database. */

import type { Kysely, Selectable } from 'kysely';
import { type AttemptStore, type SessionStore, type StoredSession, sessionMethods } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import type { Schema, SessionTable } from '../schema.ts';
import { oneOf } from '../stored-json.ts';
import { findMember } from './members.ts';

export function createSessionStore(db: Kysely<Schema>, clock: Clock): SessionStore {
  return {
    open: (session) =>
      db.transaction().execute(async (transaction) => {
        const nowMs = clock.nowMs();
        const row = {
          digest: session.digest,
          id: createId(nowMs),
          member: session.memberId,
          method: session.method,
          address: session.address,
          user_agent: session.userAgent,
          created_at: nowMs,
          seen_at: nowMs,
          expires_at: session.expiresAtMs,
          proved_at: session.provedAtMs ?? null,
        };
        // Locks the member against removal.
        const member = await transaction
          .updateTable('members')
          .set({ last_seen_at: nowMs })
          .where('id', '=', session.memberId)
          .where('disabled_at', 'is', null)
          .returning('id')
          .executeTakeFirst();
        if (member === undefined) return undefined;
        await transaction.insertInto('sessions').values(row).execute();
        return toSession(row);
      }),

    async find(digest) {
      const row = await db.selectFrom('sessions').selectAll().where('digest', '=', digest).executeTakeFirst();
      if (row === undefined) return undefined;
      const member = await findMember(db, row.member);
      return member && { session: toSession(row), member };
    },

    async seen(id) {
      await db.updateTable('sessions').set({ seen_at: clock.nowMs() }).where('id', '=', id).execute();
    },

    async listOf(memberId) {
      const rows = await db
        .selectFrom('sessions')
        .selectAll()
        .where('member', '=', memberId)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute();
      return rows.map(toSession);
    },

    async end(id, memberId) {
      const ended = await db
        .deleteFrom('sessions')
        .where('id', '=', id)
        .where('member', '=', memberId)
        .executeTakeFirst();
      return ended.numDeletedRows > 0n;
    },

    async prune(seenBeforeMs) {
      await db
        .deleteFrom('sessions')
        .where((is) => is.or([is('expires_at', '<=', clock.nowMs()), is('seen_at', '<', seenBeforeMs)]))
        .execute();
    },
  };
}

function toSession(row: Selectable<SessionTable>): StoredSession {
  return {
    id: row.id,
    memberId: row.member,
    method: oneOf(sessionMethods, row.method) ?? 'link',
    address: row.address,
    userAgent: row.user_agent,
    createdAtMs: row.created_at,
    seenAtMs: row.seen_at,
    expiresAtMs: row.expires_at,
    provedAtMs: row.proved_at ?? undefined,
  };
}

const keptMs = 24 * 60 * 60_000;

/** Attempts to sign in, in a database, so that all nodes count together. */
export function createAttemptStore(db: Kysely<Schema>, clock: Clock): AttemptStore {
  return {
    begin: (subject, waitMs) =>
      db.transaction().execute(async (transaction) => {
        const nowMs = clock.nowMs();
        await transaction
          .deleteFrom('attempts')
          .where('failed_at', '<', nowMs - keptMs)
          .execute();
        // Locks the row until the transaction ends.
        const row = await transaction
          .insertInto('attempts')
          .values({ subject, failures: 0, failed_at: nowMs, blocked_until: 0 })
          .onConflict((conflict) => conflict.column('subject').doUpdateSet({ subject }))
          .returning(['failures', 'blocked_until'])
          .executeTakeFirstOrThrow();
        if (row.blocked_until > nowMs) return row.blocked_until - nowMs;
        const failures = row.failures + 1;
        await transaction
          .updateTable('attempts')
          .set({ failures, failed_at: nowMs, blocked_until: nowMs + waitMs(failures) })
          .where('subject', '=', subject)
          .execute();
        return 0;
      }),

    async succeeded(subject) {
      await db.deleteFrom('attempts').where('subject', '=', subject).execute();
    },
  };
}
