/** Stores passkeys and API tokens in the database. */

import type { Kysely, Selectable } from 'kysely';
import type { PasskeyStore, StoredPasskey, StoredToken, TokenStore } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import { fromRow, toRow } from '../columns.ts';
import { insertNew } from '../ledger/ledger-insert.ts';
import type { Recorder } from '../recording.ts';
import type { PasskeyTable, Schema, TokenTable } from '../schema.ts';
import { readTexts } from '../stored-json.ts';
import { endToken, logRemoval, toAuditedPasskey, toAuditedToken } from './members.ts';
import { findMember, inTurn, toRole } from './rows.ts';

type PasskeyRow = Selectable<PasskeyTable>;

export function createPasskeyStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): PasskeyStore {
  const write = inTurn(recorder);
  return {
    async find(id) {
      const row = await db.selectFrom('passkeys').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toPasskey(row);
    },

    async listOf(memberId) {
      const own = db.selectFrom('passkeys').selectAll().where('member', '=', memberId);
      return (await own.orderBy('created_at').orderBy('id').execute()).map(toPasskey);
    },

    add: (passkey, actor) =>
      write(actor, async (transaction, trace) => {
        if ((await findMember(transaction, passkey.memberId)) === undefined) return 'absent';
        const publicKey = Buffer.from(passkey.publicKey).toString('base64url');
        const row = toRow({ ...passkey, publicKey, createdAtMs: clock.nowMs(), lastUsedAtMs: undefined });
        const isNew = (await insertNew(transaction, 'passkeys', [row])) === 1;
        if (!isNew) return 'taken';
        await trace({ action: 'passkey.add', subject: row.id, before: null, after: toAuditedPasskey(row) });
        return toPasskey(row);
      }),

    rename: (id, memberId, name, actor) =>
      write(actor, async (transaction, trace) => {
        const own = transaction
          .selectFrom('passkeys')
          .selectAll()
          .where((is) => is.and({ id, member: memberId }));
        const before = await own.executeTakeFirst();
        if (before === undefined) return false;
        if (before.name === name) return true;
        await transaction.updateTable('passkeys').set({ name }).where('id', '=', id).execute();
        const after = toAuditedPasskey({ ...before, name });
        await trace({ action: 'passkey.rename', subject: id, before: toAuditedPasskey(before), after });
        return true;
      }),

    remove: (id, memberId, actor) =>
      write(actor, async (transaction, trace) => {
        const own = transaction.deleteFrom('passkeys').where((is) => is.and({ id, member: memberId }));
        const before = await own.returningAll().executeTakeFirst();
        if (before === undefined) return false;
        await logRemoval(before, trace);
        return true;
      }),

    async used(id, counter) {
      const updated = await db
        .updateTable('passkeys')
        .set({ counter, last_used_at: clock.nowMs() })
        .where('id', '=', id)
        // Many authenticators have no counter and always report 0.
        .where((is) => is.or([is('counter', '<', counter), is.and([is('counter', '=', 0), is.lit(counter === 0)])]))
        .executeTakeFirst();
      return updated.numUpdatedRows > 0n;
    },
  };
}

const toPasskey = (row: PasskeyRow): StoredPasskey => ({
  ...fromRow(row),
  publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
  transports: readTexts(row.transports) ?? [],
});

type TokenRow = Selectable<TokenTable>;

export function createTokenStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): TokenStore {
  const write = inTurn(recorder);
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
      write(actor, async (transaction, trace) => {
        if ((await findMember(transaction, token.memberId)) === undefined) return undefined;
        const nowMs = clock.nowMs();
        const made = toRow({ ...token, id: `tok_${createId(nowMs)}`, createdAtMs: nowMs });
        const row = await transaction.insertInto('tokens').values(made).returningAll().executeTakeFirstOrThrow();
        await trace({ action: 'token.create', subject: row.id, before: null, after: toAuditedToken(row) });
        return toToken(row);
      }),

    revoke: (id, actor) =>
      write(actor, async (transaction, trace) => {
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

const toToken = ({ digest: _, ...row }: TokenRow): StoredToken => ({ ...fromRow(row), role: toRole(row.role) });
