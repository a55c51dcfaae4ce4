/** Implements the endpoints for members and roles, a member's own settings, and API tokens. */

import { reaches } from '../../../core/role.ts';
import type { StoredToken } from '../../../core/store/members.ts';
import { createSecretWith, digestOf, hintOf } from '../../../lib/secrets/key-secret.ts';
import { actorOf, type Caller } from '../../caller.ts';
import { type Call, implement, Reply } from '../../implement.ts';
import { invalidField, lookAtField, Problem } from '../../problem.ts';
import { toInstant, toShown } from '../../shapes/common.ts';
import * as contract from '../contract/access.ts';
import { checkPassword } from '../passwords.ts';
import { signedOut } from '../sessions.ts';
import { asMember, checkProof } from '../sign-in.ts';
import { toMemberView, toSessionView } from './session.ts';

export const listMembers = implement(contract.listMembers, async ({ context: { store } }) => {
  const [all, invitations] = await Promise.all([store.members.list(), store.invitations.list()]);
  const open = invitations.filter(({ kind }) => kind === 'invitation');
  return {
    items: all.map(toMemberView),
    invitations: open.map(({ email = '', ...one }) => ({ ...toShown(one), email })),
  };
});

export const inviteMember = implement(contract.inviteMember, async ({ context: { access }, body, caller, headers }) => {
  const made = await access.links.invite(access.consoleUrl(headers), body, actorOf(caller));
  if (made === 'taken') {
    const fields = [{ path: 'email', message: 'Somebody with this address is a member already.' }];
    throw new Problem('already_there', { detail: 'Somebody with this address is a member already.', fields });
  }
  return { link: made.link, expiresAt: toInstant(made.invitation.expiresAtMs) };
});

export const withdrawInvitation = implement(contract.withdrawInvitation, async ({ context, params, caller }) => {
  const { store } = context;
  if (await store.invitations.withdraw(params.id, actorOf(caller))) return undefined;
  throw new Problem('not_found', { detail: 'There is no such invitation; it was used, or has expired.' });
});

export const changeMember = implement(contract.changeMember, async ({ context: { store }, params, body, caller }) => {
  if (body.role !== undefined || body.disabled !== undefined) refuseOneself(caller, params.id);
  const changed = await store.members.change(params.id, body, { actor: actorOf(caller) });
  switch (changed) {
    case 'absent':
    case 'taken':
      throw noSuchMember();
    case 'last-owner':
      throw lastOwner();
    default:
      return toMemberView(changed);
  }
});

export const removeMember = implement(contract.removeMember, async ({ context: { store }, params, caller }) => {
  refuseOneself(caller, params.id);
  const removed = await store.members.remove(params.id, actorOf(caller));
  if (removed === 'absent') throw noSuchMember();
  if (removed === 'last-owner') throw lastOwner();
});

export const resetMember = implement(contract.resetMember, async ({ context, params, body, caller, headers }) => {
  const { access } = context;
  const person = { memberId: params.id, kept: body?.keep };
  const made = await access.links.reset(access.consoleUrl(headers), person, actorOf(caller));
  if (made === undefined) throw noSuchMember();
  return { link: made.link, expiresAt: toInstant(made.invitation.expiresAtMs) };
});

/** Refuses changes of the caller's own account here: members cannot lock themselves out by mistake, nor raise their own role. */
function refuseOneself(caller: Caller, memberId: string): void {
  if (caller.kind === 'nobody' || caller.memberId !== memberId) return;
  throw new Problem('not_allowed', { detail: 'You cannot do this to yourself; ask another owner.' });
}

const noSuchMember = () => new Problem('not_found', { detail: 'There is no such member; reload the list.' });

const lastOwner = () =>
  new Problem('last_owner', { detail: 'This is the only owner who can sign in; make somebody else an owner first.' });

export const changeMe = implement(contract.changeMe, async ({ context: { store }, body, caller }) => {
  const { memberId, sessionId } = asMember(caller);
  const changed = await store.members.change(memberId, body, { actor: actorOf(caller), keepSession: sessionId });
  if (typeof changed === 'string') throw signedOut();
  return toMemberView(changed);
});

export const changePassword = implement(
  contract.changePassword,
  async ({ context, body, caller, headers, address }) => {
    const { store, access } = context;
    const { memberId } = asMember(caller);
    const live = await access.sessions.find(headers);
    if (live === undefined || live.member.id !== memberId) throw signedOut();
    await proveOneself(live.member.passwordHash, body.current, { context, address, caller });
    checkPassword(body.next, live.member.email, 'next');
    const passwordHash = await access.passwords.hash(body.next);
    const changed = await store.members.change(memberId, { passwordHash }, { actor: actorOf(caller) });
    if (typeof changed === 'string') throw signedOut();
    const opened = await access.sessions.open(
      changed,
      live.session.method,
      { headers, address },
      context.clock.nowMs(),
    );
    return new Reply(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
  },
);

export const listOwnSessions = implement(contract.listOwnSessions, async ({ context, caller }) => {
  const { store, clock, access } = context;
  const { memberId, sessionId } = asMember(caller);
  const live = (await store.sessions.listOf(memberId)).filter((one) => access.sessions.isAlive(one, clock.nowMs()));
  return {
    items: live.map(({ seenAtMs, ...one }) => ({
      ...toShown({ ...one, lastSeenAtMs: seenAtMs }),
      current: one.id === sessionId,
    })),
  };
});

export const endOwnSession = implement(contract.endOwnSession, async ({ context, params, caller }) => {
  const { store, access } = context;
  const member = asMember(caller);
  if (!(await store.sessions.end(params.id, member.memberId))) {
    throw new Problem('not_found', { detail: 'You have no such session; it may have ended already.' });
  }
  await access.signIn.logSignOut(member, { session: params.id });
});

async function proveOneself(
  passwordHash: string | undefined,
  current: string | undefined,
  { context: { access, clock }, address, caller }: Pick<Call, 'context' | 'address' | 'caller'>,
): Promise<void> {
  if (passwordHash === undefined) {
    checkProof(caller, clock.nowMs());
    return;
  }
  const account = asMember(caller).name;
  await access.throttle.begin(account, address);
  if (!(await access.passwords.verify(current ?? '', passwordHash))) {
    throw lookAtField('current', 'This is not your current password.');
  }
  await access.throttle.succeeded(account, address);
}

export const listTokens = implement(contract.listTokens, async ({ context: { store }, caller }) => {
  const [tokens, members] = await Promise.all([store.tokens.list(scopeOf(caller)), store.members.list()]);
  const names = new Map(members.map(({ id, name }) => [id, name]));
  return { items: tokens.map((token) => toTokenView(token, names.get(token.memberId) ?? '')) };
});

export const createToken = implement(contract.createToken, async ({ context: { store, clock }, body, caller }) => {
  const { name, role, expiresAt } = body;
  if (caller.kind !== 'member') throw noSuchToken();
  if (!reaches(caller.role, role)) {
    throw invalidField('role', `A token cannot have a higher role than its member, and yours is ${caller.role}.`);
  }
  const expiresAtMs = expiresAt === undefined || expiresAt === null ? undefined : Date.parse(expiresAt);
  if (expiresAtMs !== undefined && expiresAtMs <= clock.nowMs())
    throw invalidField('expiresAt', 'This is over already.');
  const secret = createSecretWith('psa_');
  const { memberId } = caller;
  const facts = { digest: digestOf(secret), hint: hintOf(secret), memberId, name, role, expiresAtMs };
  const token = await store.tokens.create(facts, actorOf(caller));
  const member = await store.members.get(memberId);
  if (token === undefined || member === undefined) throw noSuchToken();
  return { token: toTokenView(token, member.name), secret };
});

export const revokeToken = implement(contract.revokeToken, async ({ context: { store }, params, caller }) => {
  const token = await store.tokens.get(params.id);
  const scope = scopeOf(caller);
  if (token === undefined || (scope !== undefined && token.memberId !== scope)) throw noSuchToken();
  await store.tokens.revoke(token.id, actorOf(caller));
});

/** The ID of the member whose tokens the caller may see; undefined where the caller may see those of all members. */
function scopeOf(caller: Caller): string | undefined {
  if (caller.kind === 'nobody') return '';
  return caller.role === 'owner' ? undefined : caller.memberId;
}

const toTokenView = (token: StoredToken, memberName: string) => ({ ...toShown(token), memberName });

const noSuchToken = () => new Problem('not_found', { detail: 'You have no such token; reload the list.' });
