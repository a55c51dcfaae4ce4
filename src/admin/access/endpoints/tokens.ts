/** API tokens: members make them for their programs, and owners see all of them. */

import type { StoredToken } from '../../../core/store/members.ts';
import { createSecretWith, digestOf, hintOf } from '../../../lib/secrets/key-secret.ts';
import { actorOf, type Caller } from '../../caller.ts';
import { implement } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { reaches } from '../../roles.ts';
import { toInstant } from '../../shapes/common.ts';
import * as contract from '../contract/tokens.ts';

const listTokens = implement(contract.listTokens, async ({ context: { store }, caller }) => {
  const [tokens, members] = await Promise.all([store.tokens.list(scopeOf(caller)), store.members.list()]);
  const names = new Map(members.map(({ id, name }) => [id, name]));
  return { items: tokens.map((token) => toView(token, names.get(token.memberId) ?? '')) };
});

const createToken = implement(
  contract.createToken,
  async ({ context: { store, clock }, body: { name, role, expiresAt }, caller }) => {
    if (caller.kind !== 'member') throw noSuchToken();
    if (!reaches(caller.role, role)) {
      throw wrongField('role', `A token may not more than its member, and you have ${caller.role}.`);
    }
    const expiresAtMs = expiresAt === undefined || expiresAt === null ? undefined : Date.parse(expiresAt);
    if (expiresAtMs !== undefined && expiresAtMs <= clock.nowMs())
      throw wrongField('expiresAt', 'This is over already.');
    const secret = createSecretWith('psa_');
    const { memberId } = caller;
    const facts = { digest: digestOf(secret), hint: hintOf(secret), memberId, name, role, expiresAtMs };
    const token = await store.tokens.create(facts, actorOf(caller));
    const member = await store.members.get(memberId);
    if (token === undefined || member === undefined) throw noSuchToken();
    return { token: toView(token, member.name), secret };
  },
);

const revokeToken = implement(contract.revokeToken, async ({ context: { store }, params, caller }) => {
  const token = await store.tokens.get(params.id);
  const scope = scopeOf(caller);
  if (token === undefined || (scope !== undefined && token.memberId !== scope)) throw noSuchToken();
  await store.tokens.revoke(token.id, actorOf(caller));
  return undefined;
});

export default [listTokens, createToken, revokeToken];

/** Whose tokens the caller may see; undefined for everybody's. */
function scopeOf(caller: Caller): string | undefined {
  if (caller.kind === 'nobody') return '';
  return caller.role === 'owner' ? undefined : caller.memberId;
}

function toView(token: StoredToken, memberName: string) {
  const { id, name, hint, role, memberId, createdAtMs, expiresAtMs, lastUsedAtMs, revokedAtMs } = token;
  const toTime = (ms: number | undefined) => (ms === undefined ? null : toInstant(ms));
  return {
    id,
    name,
    hint,
    role,
    memberId,
    memberName,
    createdAt: toInstant(createdAtMs),
    expiresAt: toTime(expiresAtMs),
    lastUsedAt: toTime(lastUsedAtMs),
    revokedAt: toTime(revokedAtMs),
  };
}

function wrongField(path: string, message: string): Problem {
  return new Problem('invalid_fields', { detail: message, fields: [{ path, message }] });
}

const noSuchToken = () => new Problem('not_found', { detail: 'You have no such token; reload the list.' });
