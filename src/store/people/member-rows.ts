/** Members as rows and rows as members; and the turn that whoever changes who may what has to take. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import { type Role, roles } from '../../core/role.ts';
import type { MemberChange, NewMember, StoredMember } from '../../core/store/members.ts';
import { foldEmail } from '../../core/store/members.ts';
import type { MemberTable, Schema } from '../schema.ts';
import { oneOf } from '../stored-json.ts';

export type MemberRow = Selectable<MemberTable>;
type CountedRow = MemberRow & { readonly passkeys: number | null };

/** A role that only a newer version knows gives no more than looking. */
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

/** The member as it will be. */
export function changed(row: MemberRow, change: MemberChange, nowMs: number): MemberRow {
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

/** As the audit log shows it. Which password, nobody is told; that there is another one, everybody. */
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
export function selectMembers(db: Kysely<Schema>) {
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

/** One after another: two owners who each demote the other would both find that there is one more. Taken before anything else. */
export async function takeTurn(transaction: Transaction<Schema>): Promise<void> {
  await transaction
    .updateTable('access_turn')
    .set((column) => ({ turns: column('turns', '+', 1) }))
    .where('id', '=', 1)
    .execute();
}
