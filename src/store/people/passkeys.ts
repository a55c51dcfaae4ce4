/** Passkeys in a database: public keys, so nothing here is a secret. */

import type { Kysely, Selectable } from 'kysely';
import type { PasskeyStore, StoredPasskey } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Recorder } from '../recording.ts';
import type { PasskeyTable, Schema } from '../schema.ts';
import { readTexts } from '../stored-json.ts';
import { tellRemoval, toAuditedPasskey } from './member-means.ts';
import { findMember, takeTurn } from './member-rows.ts';

type PasskeyRow = Selectable<PasskeyTable>;

export function createPasskeyStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): PasskeyStore {
  return {
    async find(id) {
      const row = await db.selectFrom('passkeys').selectAll().where('id', '=', id).executeTakeFirst();
      return row && toPasskey(row);
    },

    async listOf(memberId) {
      const rows = await db
        .selectFrom('passkeys')
        .selectAll()
        .where('member', '=', memberId)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(toPasskey);
    },

    add: (passkey, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        if ((await findMember(transaction, passkey.memberId)) === undefined) return 'absent';
        const row: PasskeyRow = {
          id: passkey.id,
          member: passkey.memberId,
          public_key: Buffer.from(passkey.publicKey).toString('base64url'),
          counter: passkey.counter,
          transports: JSON.stringify(passkey.transports),
          name: passkey.name,
          created_at: clock.nowMs(),
          last_used_at: null,
        };
        const added = await transaction
          .insertInto('passkeys')
          .values(row)
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        if (added.numInsertedOrUpdatedRows === 0n) return 'taken';
        await trace({ action: 'passkey.add', subject: row.id, before: null, after: toAuditedPasskey(row) });
        return toPasskey(row);
      }),

    rename: (id, memberId, name, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const before = await transaction
          .selectFrom('passkeys')
          .selectAll()
          .where('id', '=', id)
          .where('member', '=', memberId)
          .executeTakeFirst();
        if (before === undefined) return false;
        if (before.name === name) return true;
        await transaction.updateTable('passkeys').set({ name }).where('id', '=', id).execute();
        const after = toAuditedPasskey({ ...before, name });
        await trace({ action: 'passkey.rename', subject: id, before: toAuditedPasskey(before), after });
        return true;
      }),

    remove: (id, memberId, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const before = await transaction
          .deleteFrom('passkeys')
          .where('id', '=', id)
          .where('member', '=', memberId)
          .returningAll()
          .executeTakeFirst();
        if (before === undefined) return false;
        await tellRemoval(before, trace);
        return true;
      }),

    async used(id, counter) {
      const updated = await db
        .updateTable('passkeys')
        .set({ counter, last_used_at: clock.nowMs() })
        .where('id', '=', id)
        // Many authenticators do not count, and say 0 always.
        .where((is) => is.or([is('counter', '<', counter), is.and([is('counter', '=', 0), is.lit(counter === 0)])]))
        .executeTakeFirst();
      return updated.numUpdatedRows > 0n;
    },
  };
}

function toPasskey(row: PasskeyRow): StoredPasskey {
  return {
    id: row.id,
    memberId: row.member,
    publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
    counter: row.counter,
    transports: readTexts(row.transports) ?? [],
    name: row.name,
    createdAtMs: row.created_at,
    lastUsedAtMs: row.last_used_at ?? undefined,
  };
}
