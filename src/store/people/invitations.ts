/** Stores invitations and password reset links in the database: each is valid once and found by its digest. */

import type { Insertable, Kysely, Selectable, Transaction } from 'kysely';
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
import { fromRow } from '../columns.ts';
import type { Recorder } from '../recording.ts';
import type { InvitationTable, Schema } from '../schema.ts';
import { oneOf, readTexts } from '../stored-json.ts';
import { endLinks, endMeans, endSessions, isAnyThere, isTaken, toAudited, toMemberRow } from './members.ts';
import { findMember, findMemberRow, inTurn, type MemberRow, type Tracer, toMember, toRole } from './rows.ts';

type InvitationRow = Selectable<InvitationTable>;

type NewLink = Omit<Insertable<InvitationTable>, 'id' | 'created_at'>;

export function createInvitationStore(db: Kysely<Schema>, recorder: Recorder, clock: Clock): InvitationStore {
  const write = inTurn(recorder);

  async function findValid(from: Kysely<Schema>, digest: string): Promise<InvitationRow | undefined> {
    const query = from.selectFrom('invitations').selectAll().where('digest', '=', digest);
    return query.where('expires_at', '>', clock.nowMs()).executeTakeFirst();
  }

  async function put(transaction: Transaction<Schema>, link: NewLink, trace: Tracer): Promise<StoredInvitation> {
    const nowMs = clock.nowMs();
    await transaction.deleteFrom('invitations').where('expires_at', '<=', nowMs).execute();
    const values = { ...link, id: createId(nowMs), created_at: nowMs };
    const row = await transaction.insertInto('invitations').values(values).returningAll().executeTakeFirstOrThrow();
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
    // Means of signing in may have been added since the link was made.
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
      write(actor, async (transaction, trace) => {
        if (await isAnyThere(transaction)) return undefined;
        await endLinks(transaction, { kind: 'set-up' });
        const link = { digest, kind: 'set-up', role: 'owner', invited_by: actor, expires_at: expiresAtMs };
        return put(transaction, link, trace);
      }),

    invite: ({ digest, email: written, role, expiresAtMs }, actor) =>
      write(actor, async (transaction, trace) => {
        const email = foldEmail(written);
        if ((await findMemberRow(transaction, 'email', email)) !== undefined) return 'taken';
        await endLinks(transaction, { kind: 'invitation', email });
        const link = { digest, kind: 'invitation', email, role, invited_by: actor, expires_at: expiresAtMs };
        return put(transaction, link, trace);
      }),

    reset: ({ digest, memberId, expiresAtMs, kept = [] }, actor) =>
      write(actor, async (transaction, trace) => {
        const member = await findMember(transaction, memberId);
        if (member === undefined) return undefined;
        await endLinks(transaction, { kind: 'reset', member: memberId });
        const { email, role } = member;
        const person = { email, role, member: memberId, kept: JSON.stringify(kept) };
        const link = { ...person, digest, kind: 'reset', invited_by: actor, expires_at: expiresAtMs };
        const made = await put(transaction, link, trace);
        await endMeans(transaction, memberId, kept, clock.nowMs(), trace);
        return made;
      }),

    accept: (digest, person) =>
      write('console', async (transaction, trace) => {
        const row = await findValid(transaction, digest);
        if (row === undefined) return 'absent';
        if (row.kind === 'reset') {
          await transaction.deleteFrom('invitations').where('digest', '=', digest).execute();
          return setPassword(transaction, row, person.passwordHash, trace);
        }
        if (row.kind === 'set-up' && (await isAnyThere(transaction))) return 'absent';
        const email = row.email ?? person.email;
        const member = toMemberRow({ ...person, email, role: toRole(row.role) }, clock.nowMs());
        if (await isTaken(transaction, member)) return 'taken';
        await transaction.deleteFrom('invitations').where('digest', '=', digest).execute();
        await transaction.insertInto('members').values(member).execute();
        await trace({ action: 'member.join', subject: member.email, before: null, after: toAudited(member) });
        return toMember({ ...member, passkeys: 0 });
      }),

    withdraw: (id, actor) =>
      write(actor, async (transaction, trace) => {
        const row = await transaction.deleteFrom('invitations').where('id', '=', id).returningAll().executeTakeFirst();
        if (row === undefined) return false;
        const before = { role: row.role, expiresAtMs: row.expires_at };
        await trace({ action: 'invitation.withdraw', subject: row.email ?? row.kind, before, after: null });
        return true;
      }),
  };
}

const actions = { 'set-up': 'member.set_up', invitation: 'member.invite', reset: 'member.reset' } as const;

/** The kind of a link; a kind that only a newer version knows counts as the weakest. */
const toKind = ({ kind }: Pick<InvitationRow, 'kind'>) => oneOf(invitationKinds, kind) ?? 'invitation';

/** The means of signing in that a reset keeps; means that only a newer version knows are not kept. */
const toKept = ({ kept }: InvitationRow): readonly MemberMeans[] =>
  memberMeans.filter((means) => readTexts(kept ?? '[]')?.includes(means));

function toInvitation({ digest: _digest, kept: _kept, ...row }: InvitationRow): StoredInvitation {
  return { ...fromRow(row), kind: toKind(row), role: toRole(row.role) };
}
