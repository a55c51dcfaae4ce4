/** Members of the console in a database. */

import type { Kysely, Transaction } from 'kysely';
import { foldEmail, isMember, type MemberStore } from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import type { Recorder, Trace } from '../recording.ts';
import type { Schema } from '../schema.ts';
import {
  changed,
  findMember,
  type MemberRow,
  selectMembers,
  takeTurn,
  toAudited,
  toMember,
  toMemberRow,
} from './member-rows.ts';

export function createMemberStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): MemberStore {
  return {
    any: () => isAnyThere(db),

    async list() {
      return (await selectMembers(db).orderBy('members.created_at').orderBy('members.id').execute()).map(toMember);
    },

    get: (id) => findMember(db, id),

    async findByEmail(email) {
      const row = await selectMembers(db).where('members.email', '=', foldEmail(email)).executeTakeFirst();
      return row && toMember(row);
    },

    async findBySubject(oidcSubject) {
      const row = await selectMembers(db).where('members.oidc_subject', '=', oidcSubject).executeTakeFirst();
      return row && toMember(row);
    },

    create: (member, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const row = toMemberRow(createId(clock.nowMs()), member, clock.nowMs());
        if (await isTaken(transaction, row)) return 'taken';
        await transaction.insertInto('members').values(row).execute();
        await trace({ action: 'member.create', subject: row.email, before: null, after: toAudited(row) });
        return toMember({ ...row, passkeys: 0 });
      }),

    change: (id, change, { actor, keepSession }) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const found = await find(transaction, id);
        if (found === undefined) return 'absent';
        const { passkeys, ...before } = found;
        const after = changed(before, change, clock.nowMs());
        if (isOwner(before) && !isOwner(after) && (await isLastOwner(transaction, id))) return 'last-owner';
        if (await isTaken(transaction, after)) return 'taken';
        const { id: same, ...columns } = after;
        await transaction.updateTable('members').set(columns).where('id', '=', id).execute();
        if (endsSessions(before, after)) await endSessions(transaction, id, keepSession);
        if (before.password_hash !== after.password_hash) await endResets(transaction, id);
        if (JSON.stringify(before) !== JSON.stringify(after)) {
          const action = change.passwordHash === undefined ? 'member.change' : 'member.password';
          await trace({ action, subject: before.email, before: toAudited(before), after: toAudited(after) });
        }
        if (isOwner(before) && !isOwner(after)) await endLinksBy(transaction, before.email, trace);
        return toMember({ ...after, passkeys });
      }),

    remove: (id, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const before = await find(transaction, id);
        if (before === undefined) return 'absent';
        if (isOwner(before) && (await isLastOwner(transaction, id))) return 'last-owner';
        for (const table of ['sessions', 'tokens', 'passkeys', 'invitations'] as const) {
          await transaction.deleteFrom(table).where('member', '=', id).execute();
        }
        await transaction.deleteFrom('members').where('id', '=', id).execute();
        await trace({ action: 'member.remove', subject: before.email, before: toAudited(before), after: null });
        await endLinksBy(transaction, before.email, trace);
        return 'removed';
      }),

    async seen(id) {
      await db.updateTable('members').set({ last_seen_at: clock.nowMs() }).where('id', '=', id).execute();
    },
  };
}

export async function isAnyThere(db: Kysely<Schema>): Promise<boolean> {
  return (await db.selectFrom('members').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Whether the address, or the subject, is somebody else's. */
export async function isTaken(transaction: Transaction<Schema>, row: MemberRow): Promise<boolean> {
  const other = await transaction
    .selectFrom('members')
    .select('id')
    .where('id', '!=', row.id)
    .where((is) => is.or([is('email', '=', row.email), is('oidc_subject', '=', row.oidc_subject)]))
    .executeTakeFirst();
  return other !== undefined;
}

export async function endSessions(transaction: Transaction<Schema>, member: string, keep?: string): Promise<void> {
  let query = transaction.deleteFrom('sessions').where('member', '=', member);
  if (keep !== undefined) query = query.where('id', '!=', keep);
  await query.execute();
}

/** Links for another password that are still about: the one that is there is newer. */
const endResets = (transaction: Transaction<Schema>, member: string) =>
  transaction.deleteFrom('invitations').where('kind', '=', 'reset').where('member', '=', member).execute();

/** What an owner handed out ends with the role: one of these links would bring it back, or give them the account of another. */
async function endLinksBy(
  transaction: Transaction<Schema>,
  owner: string,
  trace: (trace: Trace) => Promise<void>,
): Promise<void> {
  const open = await transaction.selectFrom('invitations').selectAll().execute();
  for (const { id, kind, email, role, expires_at, invited_by } of open) {
    if (!isMember(invited_by, owner)) continue;
    await transaction.deleteFrom('invitations').where('id', '=', id).execute();
    const before = { role, expiresAtMs: expires_at };
    await trace({ action: 'invitation.withdraw', subject: email ?? kind, before, after: null });
  }
}

const find = (transaction: Transaction<Schema>, id: string) =>
  selectMembers(transaction).where('members.id', '=', id).executeTakeFirst();

const isOwner = (row: MemberRow): boolean => row.role === 'owner' && row.disabled_at === null;

async function isLastOwner(transaction: Transaction<Schema>, id: string): Promise<boolean> {
  const other = await transaction
    .selectFrom('members')
    .select('id')
    .where('id', '!=', id)
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return other === undefined;
}

function endsSessions(before: MemberRow, after: MemberRow): boolean {
  const isDisabled = after.disabled_at !== null;
  return isDisabled || before.role !== after.role || before.password_hash !== after.password_hash;
}
