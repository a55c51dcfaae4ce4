/** Invitations and password reset links in the database: valid once, found by digest. */

import type { Kysely, Selectable, Transaction } from 'kysely';
import {
  foldEmail,
  type InvitationStore,
  invitationKinds,
  type MemberMeans,
  memberMeans,
  type StoredInvitation,
} from '../../core/store/members.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import type { Recorder, Trace } from '../recording.ts';
import type { InvitationTable, Schema } from '../schema.ts';
import { oneOf, readTexts } from '../stored-json.ts';
import {
  endMeans,
  endSessions,
  findMember,
  isAnyThere,
  isTaken,
  type MemberRow,
  takeTurn,
  toAudited,
  toMember,
  toMemberRow,
  toRole,
} from './members.ts';

type InvitationRow = Selectable<InvitationTable>;
type Tracer = (trace: Trace) => Promise<void>;

export function createInvitationStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): InvitationStore {
  function toRow(
    row: Pick<InvitationRow, 'digest' | 'kind' | 'role'> & Partial<InvitationRow>,
    actor: string,
    expiresAtMs: number,
  ): InvitationRow {
    const nowMs = clock.nowMs();
    const { digest, kind, role, email = null, member = null, kept = null } = row;
    const times = { created_at: nowMs, expires_at: expiresAtMs };
    return { id: createId(nowMs), digest, kind, email, role, member, kept, invited_by: actor, ...times };
  }

  async function findValid(from: Kysely<Schema>, digest: string): Promise<InvitationRow | undefined> {
    const query = from.selectFrom('invitations').selectAll().where('digest', '=', digest);
    return query.where('expires_at', '>', clock.nowMs()).executeTakeFirst();
  }

  async function put(transaction: Transaction<Schema>, row: InvitationRow, trace: Tracer): Promise<StoredInvitation> {
    await transaction.deleteFrom('invitations').where('expires_at', '<=', clock.nowMs()).execute();
    await transaction.insertInto('invitations').values(row).execute();
    await trace({
      action: actions[toKind(row)],
      subject: row.email ?? row.kind,
      before: null,
      after: { role: row.role, expiresAtMs: row.expires_at, ...(row.kept !== null && { kept: toKept(row) }) },
    });
    return toInvitation(row);
  }

  async function setPassword(
    transaction: Transaction<Schema>,
    link: InvitationRow,
    passwordHash: string,
    trace: Tracer,
  ) {
    const id = link.member ?? '';
    if ((await findMember(transaction, id)) === undefined) return 'absent' as const;
    const after: MemberRow = await transaction
      .updateTable('members')
      .set({ password_hash: passwordHash })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await endSessions(transaction, id);
    await trace({ action: 'member.password', subject: after.email, before: null, after: toAudited(after) });
    // Some may have been added since the link was made.
    await endMeans(transaction, id, toKept(link), clock.nowMs(), trace);
    return (await findMember(transaction, id)) ?? 'absent';
  }

  return {
    async list() {
      const rows = await db
        .selectFrom('invitations')
        .selectAll()
        .where('expires_at', '>', clock.nowMs())
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute();
      return rows.map(toInvitation);
    },

    async find(digest) {
      const row = await findValid(db, digest);
      return row && toInvitation(row);
    },

    setUp: (digest, expiresAtMs, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        if (await isAnyThere(transaction)) return undefined;
        await transaction.deleteFrom('invitations').where('kind', '=', 'set-up').execute();
        return put(transaction, toRow({ digest, kind: 'set-up', role: 'owner' }, actor, expiresAtMs), trace);
      }),

    invite: ({ digest, email: written, role, expiresAtMs }, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const email = foldEmail(written);
        const taken = await transaction
          .selectFrom('members')
          .select('id')
          .where('email', '=', email)
          .executeTakeFirst();
        if (taken !== undefined) return 'taken';
        await transaction
          .deleteFrom('invitations')
          .where('kind', '=', 'invitation')
          .where('email', '=', email)
          .execute();
        return put(transaction, toRow({ digest, kind: 'invitation', email, role }, actor, expiresAtMs), trace);
      }),

    reset: ({ digest, memberId, expiresAtMs, kept = [] }, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const member = await findMember(transaction, memberId);
        if (member === undefined) return undefined;
        await transaction
          .deleteFrom('invitations')
          .where('kind', '=', 'reset')
          .where('member', '=', memberId)
          .execute();
        const { email, role } = member;
        const row = { digest, kind: 'reset', email, role, member: memberId, kept: JSON.stringify(kept) };
        const made = await put(transaction, toRow(row, actor, expiresAtMs), trace);
        await endMeans(transaction, memberId, kept, clock.nowMs(), trace);
        return made;
      }),

    accept: (digest, person) =>
      recorder.write('console', async (transaction, trace) => {
        await takeTurn(transaction);
        const row = await findValid(transaction, digest);
        if (row === undefined) return 'absent';
        if (row.kind === 'reset') {
          await transaction.deleteFrom('invitations').where('digest', '=', digest).execute();
          return setPassword(transaction, row, person.passwordHash, trace);
        }
        if (row.kind === 'set-up' && (await isAnyThere(transaction))) return 'absent';
        const email = row.email ?? person.email;
        const member = toMemberRow(
          createId(clock.nowMs()),
          { ...person, email, role: toRole(row.role) },
          clock.nowMs(),
        );
        if (await isTaken(transaction, member)) return 'taken';
        await transaction.deleteFrom('invitations').where('digest', '=', digest).execute();
        await transaction.insertInto('members').values(member).execute();
        await trace({ action: 'member.join', subject: member.email, before: null, after: toAudited(member) });
        return toMember({ ...member, passkeys: 0 });
      }),

    withdraw: (id, actor) =>
      recorder.write(actor, async (transaction, trace) => {
        await takeTurn(transaction);
        const row = await transaction.deleteFrom('invitations').where('id', '=', id).returningAll().executeTakeFirst();
        if (row === undefined) return false;
        const before = { role: row.role, expiresAtMs: row.expires_at };
        await trace({ action: 'invitation.withdraw', subject: row.email ?? row.kind, before, after: null });
        return true;
      }),
  };
}

const actions = { 'set-up': 'member.set_up', invitation: 'member.invite', reset: 'member.reset' } as const;

/** A kind that only a newer version knows counts as the weakest. */
const toKind = (row: InvitationRow) => oneOf(invitationKinds, row.kind) ?? 'invitation';

/** Means that only a newer version knows are not kept. */
const toKept = ({ kept }: InvitationRow): readonly MemberMeans[] =>
  memberMeans.filter((means) => readTexts(kept ?? '[]')?.includes(means));

function toInvitation(row: InvitationRow): StoredInvitation {
  return {
    id: row.id,
    kind: toKind(row),
    email: row.email ?? undefined,
    role: toRole(row.role),
    memberId: row.member ?? undefined,
    invitedBy: row.invited_by,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}
