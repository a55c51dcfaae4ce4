/** API tokens in a database: found by their digest alone. */

import type { Kysely, Selectable } from 'kysely';
import type { StoredToken, TokenStore } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import type { Recorder } from '../recording.ts';
import type { Schema, TokenTable } from '../schema.ts';
import { endToken, toAuditedToken } from './member-means.ts';
import { findMember, takeTurn, toRole } from './member-rows.ts';

type TokenRow = Selectable<TokenTable>;

export function createTokenStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): TokenStore {
  return {
    async find(digest) {
      const row = await db.selectFrom('tokens').selectAll().where('digest', '=', digest).executeTakeFirst();
      if (row === undefined) return undefined;
      const member = await findMember(db, row.member);
      return member && { token: toToken(row), member };
    },

    async get(id) {
      const row = await db.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toToken(row);
    },

    async list(memberId) {
      let query = db.selectFrom('tokens').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
      if (memberId !== undefined) query = query.where('member', '=', memberId);
      return (await query.execute()).map(toToken);
    },

    create: (token, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        if ((await findMember(transaction, token.memberId)) === undefined) return undefined;
        const nowMs = clock.nowMs();
        const row: TokenRow = {
          id: `tok_${createId(nowMs)}`,
          digest: token.digest,
          member: token.memberId,
          name: token.name,
          hint: token.hint,
          role: token.role,
          created_at: nowMs,
          expires_at: token.expiresAtMs ?? null,
          last_used_at: null,
          revoked_at: null,
        };
        await transaction.insertInto('tokens').values(row).execute();
        await trace({ action: 'token.create', subject: row.id, before: null, after: toAuditedToken(row) });
        return toToken(row);
      }),

    revoke: (id, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const before = await transaction.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirst();
        if (before === undefined) return false;
        if (before.revoked_at !== null) return true;
        await endToken(transaction, before, clock.nowMs(), trace);
        return true;
      }),

    async used(id) {
      await db.updateTable('tokens').set({ last_used_at: clock.nowMs() }).where('id', '=', id).execute();
    },
  };
}

function toToken(row: TokenRow): StoredToken {
  return {
    id: row.id,
    memberId: row.member,
    name: row.name,
    hint: row.hint,
    role: toRole(row.role),
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at ?? undefined,
    lastUsedAtMs: row.last_used_at ?? undefined,
    revokedAtMs: row.revoked_at ?? undefined,
  };
}
