/** Stores console members in the database. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import {
  foldEmail,
  isMember,
  type MemberChange,
  type MemberMeans,
  type MemberStore,
  memberMeans,
  type NewMember,
} from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import { toRow } from '../columns.ts';
import type { Recorder } from '../recording.ts';
import type { PasskeyTable, Schema, TokenTable } from '../schema.ts';
import { findMember, findMemberRow, inTurn, type MemberRow, selectMembers, type Tracer, toMember } from './rows.ts';

export function createMemberStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): MemberStore {
  const write = inTurn(recorder);
  return {
    any: () => isAnyThere(db),

    async list() {
      return (await selectMembers(db).orderBy('members.created_at').orderBy('members.id').execute()).map(toMember);
    },

    get: (id) => findMember(db, id),

    findByEmail: (email) => findMember(db, foldEmail(email), 'email'),

    findBySubject: (oidcSubject) => findMember(db, oidcSubject, 'oidc_subject'),

    create: (member, actor) =>
      write(actor, async (transaction, trace) => {
        const row = toMemberRow(member, clock.nowMs());
        if (await isTaken(transaction, row)) return 'taken';
        await transaction.insertInto('members').values(row).execute();
        await trace({ action: 'member.create', subject: row.email, before: null, after: toAudited(row) });
        return toMember({ ...row, passkeys: 0 });
      }),

    change: (id, change, { actor, keepSession }) =>
      write(actor, async (transaction, trace) => {
        const found = await findMemberRow(transaction, 'id', id);
        if (found === undefined) return 'absent';
        const { passkeys, ...before } = found;
        const after = changed(before, change, clock.nowMs());
        if (isOwner(before) && !isOwner(after) && (await isLastOwner(transaction, id))) return 'last-owner';
        if (await isTaken(transaction, after)) return 'taken';
        const { id: same, ...columns } = after;
        await transaction.updateTable('members').set(columns).where('id', '=', id).execute();
        if (endsSessions(before, after)) await endSessions(transaction, id, keepSession);
        // A reset link from before the change could replace the new password.
        if (before.password_hash !== after.password_hash) await endLinks(transaction, { kind: 'reset', member: id });
        if (JSON.stringify(before) !== JSON.stringify(after)) {
          const action = change.passwordHash === undefined ? 'member.change' : 'member.password';
          await trace({ action, subject: before.email, before: toAudited(before), after: toAudited(after) });
        }
        if (isOwner(before) && !isOwner(after)) await endLinksBy(transaction, before.email, trace);
        return toMember({ ...after, passkeys });
      }),

    remove: (id, actor) =>
      write(actor, async (transaction, trace) => {
        const before = await findMemberRow(transaction, 'id', id);
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

export const endLinks = (
  transaction: Transaction<Schema>,
  links: { readonly kind: string; readonly email?: string; readonly member?: string },
) =>
  transaction
    .deleteFrom('invitations')
    .where((is) => is.and(links))
    .execute();

/** Deletes an owner's links when that role ends: they could restore the role, or give access to another account. */
async function endLinksBy(transaction: Transaction<Schema>, owner: string, trace: Tracer): Promise<void> {
  const open = await transaction.selectFrom('invitations').selectAll().execute();
  for (const { id, kind, email, role, expires_at, invited_by } of open) {
    if (!isMember(invited_by, owner)) continue;
    await transaction.deleteFrom('invitations').where('id', '=', id).execute();
    const before = { role, expiresAtMs: expires_at };
    await trace({ action: 'invitation.withdraw', subject: email ?? kind, before, after: null });
  }
}

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

export function toMemberRow(member: NewMember, nowMs: number): MemberRow {
  const { name, role, passwordHash, oidcSubject } = member;
  const email = foldEmail(member.email);
  const times = { createdAtMs: nowMs, lastSeenAtMs: undefined, disabledAtMs: undefined };
  return toRow({ id: createId(nowMs), email, name, role, passwordHash, oidcSubject, ...times });
}

function changed(row: MemberRow, change: MemberChange, nowMs: number): MemberRow {
  const { name, role, disabled, passwordHash, oidcSubject } = change;
  return {
    ...row,
    name: name ?? row.name,
    role: role ?? row.role,
    password_hash: passwordHash ?? row.password_hash,
    oidc_subject: oidcSubject === undefined ? row.oidc_subject : oidcSubject,
    disabled_at: disabled === undefined ? row.disabled_at : disabled ? (row.disabled_at ?? nowMs) : null,
  };
}

/** A member as the audit log has it: it shows that the password changed, but not to what. */
export function toAudited(row: MemberRow): unknown {
  const { email, name, role, disabled_at, password_hash, oidc_subject: oidcSubject } = row;
  return { email, name, role, disabled: disabled_at !== null, hasPassword: password_hash !== null, oidcSubject };
}

export async function endMeans(
  transaction: Transaction<Schema>,
  member: string,
  kept: readonly MemberMeans[],
  nowMs: number,
  trace: Tracer,
): Promise<void> {
  for (const means of memberMeans) if (!kept.includes(means)) await enders[means](transaction, member, nowMs, trace);
}

type End = (transaction: Transaction<Schema>, member: string, nowMs: number, trace: Tracer) => Promise<void>;

const enders: Readonly<Record<MemberMeans, End>> = {
  async tokens(transaction, member, nowMs, trace) {
    const rows = await transaction
      .selectFrom('tokens')
      .selectAll()
      .where('member', '=', member)
      .where('revoked_at', 'is', null)
      .execute();
    for (const row of rows) await endToken(transaction, row, nowMs, trace);
  },

  async passkeys(transaction, member, _nowMs, trace) {
    const rows = await transaction.deleteFrom('passkeys').where('member', '=', member).returningAll().execute();
    for (const row of rows) await logRemoval(row, trace);
  },
};

export async function endToken(
  transaction: Transaction<Schema>,
  before: Selectable<TokenTable>,
  nowMs: number,
  trace: Tracer,
): Promise<void> {
  const after = { ...before, revoked_at: nowMs };
  await transaction.updateTable('tokens').set({ revoked_at: nowMs }).where('id', '=', before.id).execute();
  await trace({
    action: 'token.revoke',
    subject: before.id,
    before: toAuditedToken(before),
    after: toAuditedToken(after),
  });
}

export function logRemoval(before: Selectable<PasskeyTable>, trace: Tracer): Promise<void> {
  return trace({ action: 'passkey.remove', subject: before.id, before: toAuditedPasskey(before), after: null });
}

export function toAuditedToken(row: Selectable<TokenTable>): unknown {
  const { member, name, hint, role, expires_at, revoked_at } = row;
  return { memberId: member, name, hint, role, expiresAtMs: expires_at, revokedAtMs: revoked_at };
}

export const toAuditedPasskey = ({ member, name }: Selectable<PasskeyTable>): unknown => ({ memberId: member, name });
