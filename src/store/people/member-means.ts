/** Ends a member's API tokens and passkeys, each with its entry in the audit log. */

import type { Selectable, Transaction } from 'kysely';
import { type MemberMeans, memberMeans } from '../../core/store/members.ts';
import type { Trace } from '../recording.ts';
import type { PasskeyTable, Schema, TokenTable } from '../schema.ts';

type Tracer = (trace: Trace) => Promise<void>;

/** All but those that are kept. */
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
    for (const row of rows) await tellRemoval(row, trace);
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

export function tellRemoval(before: Selectable<PasskeyTable>, trace: Tracer): Promise<void> {
  return trace({ action: 'passkey.remove', subject: before.id, before: toAuditedPasskey(before), after: null });
}

export function toAuditedToken(row: Selectable<TokenTable>): unknown {
  const { member, name, hint, role, expires_at, revoked_at } = row;
  return { memberId: member, name, hint, role, expiresAtMs: expires_at, revokedAtMs: revoked_at };
}

export const toAuditedPasskey = ({ member, name }: Selectable<PasskeyTable>): unknown => ({ memberId: member, name });
