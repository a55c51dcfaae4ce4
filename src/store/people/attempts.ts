/** How often somebody tried to sign in, in a database, so that all nodes count together. */

import type { Kysely } from 'kysely';
import type { AttemptStore } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Schema } from '../schema.ts';

const keptMs = 24 * 60 * 60_000;

export function createAttemptStore(db: Kysely<Schema>, clock: Clock): AttemptStore {
  return {
    begin: (subject, waitMs) =>
      db.transaction().execute(async (transaction) => {
        const nowMs = clock.nowMs();
        await transaction
          .deleteFrom('attempts')
          .where('failed_at', '<', nowMs - keptMs)
          .execute();
        // From here on the row is ours, until the transaction ends.
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
