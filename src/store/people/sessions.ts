/** Stores sessions and failed sign-in attempts in the database. */

import type { Kysely, Selectable } from 'kysely';
import { type AttemptStore, type SessionStore, type StoredSession, sessionMethods } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import { fromRow, toRow } from '../columns.ts';
import type { Schema, SessionTable } from '../schema.ts';
import { oneOf } from '../stored-json.ts';
import { findMember } from './rows.ts';

export function createSessionStore(db: Kysely<Schema>, clock: Clock): SessionStore {
  return {
    open: (session) =>
      db.transaction().execute(async (transaction) => {
        const nowMs = clock.nowMs();
        // Locks the member against removal.
        const member = await transaction
          .updateTable('members')
          .set({ last_seen_at: nowMs })
          .where('id', '=', session.memberId)
          .where('disabled_at', 'is', null)
          .returning('id')
          .executeTakeFirst();
        if (member === undefined) return undefined;
        const row = toRow({
          provedAtMs: undefined,
          ...session,
          id: createId(nowMs),
          createdAtMs: nowMs,
          seenAtMs: nowMs,
        });
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
      const own = db.selectFrom('sessions').selectAll().where('member', '=', memberId);
      return (await own.orderBy('created_at', 'desc').orderBy('id', 'desc').execute()).map(toSession);
    },

    async end(id, memberId) {
      const own = db.deleteFrom('sessions').where((is) => is.and({ id, member: memberId }));
      return (await own.executeTakeFirst()).numDeletedRows > 0n;
    },

    async prune(seenBeforeMs) {
      await db
        .deleteFrom('sessions')
        .where((is) => is.or([is('expires_at', '<=', clock.nowMs()), is('seen_at', '<', seenBeforeMs)]))
        .execute();
    },
  };
}

const toSession = ({ digest: _, ...row }: Selectable<SessionTable>): StoredSession => ({
  ...fromRow(row),
  method: oneOf(sessionMethods, row.method) ?? 'link',
});

const keptMs = 24 * 60 * 60_000;

/** Creates the store of sign-in attempts; it is in the database, so that all nodes count together. */
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
