/** Console members in the database. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import { type Role, roles } from '../../core/role.ts';
import {
  foldEmail,
  isMember,
  type MemberChange,
  type MemberMeans,
  type MemberStore,
  memberMeans,
  type NewMember,
  type StoredMember,
} from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import type { Recorder, Trace } from '../recording.ts';
import type { MemberTable, PasskeyTable, Schema, TokenTable } from '../schema.ts';
import { oneOf } from '../stored-json.ts';

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

/** Whether another member has the address or the subject. */
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

/** Ends pending reset links: the present password is newer. */
const endResets = (transaction: Transaction<Schema>, member: string) =>
  transaction.deleteFrom('invitations').where('kind', '=', 'reset').where('member', '=', member).execute();

/** Links that an owner handed out end with the role: they could restore it, or give access to another account. */
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

export type MemberRow = Selectable<MemberTable>;
type CountedRow = MemberRow & { readonly passkeys: number | null };

/** A role that only a newer version knows counts as viewer. */
export const toRole = (text: string): Role => oneOf(roles, text) ?? 'viewer';

export function toMember(row: CountedRow): StoredMember {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: toRole(row.role),
    passwordHash: row.password_hash ?? undefined,
    oidcSubject: row.oidc_subject ?? undefined,
    passkeys: Number(row.passkeys ?? 0),
    createdAtMs: row.created_at,
    lastSeenAtMs: row.last_seen_at ?? undefined,
    disabledAtMs: row.disabled_at ?? undefined,
  };
}

export function toMemberRow(id: string, member: NewMember, nowMs: number): MemberRow {
  return {
    id,
    email: foldEmail(member.email),
    name: member.name,
    role: member.role,
    password_hash: member.passwordHash ?? null,
    oidc_subject: member.oidcSubject ?? null,
    created_at: nowMs,
    last_seen_at: null,
    disabled_at: null,
  };
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

/** For the audit log: that the password changed, but not to what. */
export function toAudited(row: MemberRow): unknown {
  return {
    email: row.email,
    name: row.name,
    role: row.role,
    disabled: row.disabled_at !== null,
    hasPassword: row.password_hash !== null,
    oidcSubject: row.oidc_subject,
  };
}

/** With the number of their passkeys. */
function selectMembers(db: Kysely<Schema>) {
  return db
    .selectFrom('members')
    .selectAll('members')
    .select((is) =>
      is
        .selectFrom('passkeys')
        .whereRef('passkeys.member', '=', 'members.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('passkeys'),
    );
}

export async function findMember(db: Kysely<Schema>, id: string): Promise<StoredMember | undefined> {
  const row = await selectMembers(db).where('members.id', '=', id).executeTakeFirst();
  return row && toMember(row);
}

/** Serialises changes: two owners who demote each other at once would both still see the other. Locked before anything else. */
export async function takeTurn(transaction: Transaction<Schema>): Promise<void> {
  await transaction
    .updateTable('access_turn')
    .set((column) => ({ turns: column('turns', '+', 1) }))
    .where('id', '=', 1)
    .execute();
}

type Tracer = (trace: Trace) => Promise<void>;

/** All except the kept ones. */
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
