/** What members do about themselves: name, password, and where they are signed in. */

import { actorOf, type Caller, type MemberCaller } from '../../caller.ts';
import { type Call, implement, replyWith } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import * as contract from '../contract/me.ts';
import { checkPassword } from '../password-rule.ts';
import { checkProof } from '../proof.ts';
import { signedOut } from '../sessions.ts';
import { toMemberView, toSessionView } from '../views.ts';

const changeMe = implement(contract.changeMe, async ({ context: { store }, body, caller }) => {
  const { memberId, sessionId } = asMember(caller);
  const changed = await store.members.change(memberId, body, { actor: actorOf(caller), keepSession: sessionId });
  if (typeof changed === 'string') throw signedOut();
  return toMemberView(changed);
});

const changePassword = implement(contract.changePassword, async ({ context, body, caller, headers, address }) => {
  const { store, access } = context;
  const { memberId } = asMember(caller);
  const live = await access.sessions.find(headers);
  if (live === undefined || live.member.id !== memberId) throw signedOut();
  await proveOneself(live.member.passwordHash, body.current, { context, address, caller });
  checkPassword(body.next, live.member.email, 'next');
  const passwordHash = await access.passwords.hash(body.next);
  const changed = await store.members.change(memberId, { passwordHash }, { actor: actorOf(caller) });
  if (typeof changed === 'string') throw signedOut();
  const opened = await access.sessions.open(changed, live.session.method, { headers, address }, context.clock.nowMs());
  return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
});

const listOwnSessions = implement(contract.listOwnSessions, async ({ context: { store, clock, access }, caller }) => {
  const { memberId, sessionId } = asMember(caller);
  const live = (await store.sessions.listOf(memberId)).filter((one) => access.sessions.isAlive(one, clock.nowMs()));
  return {
    items: live.map(({ id, method, address, userAgent, createdAtMs, seenAtMs, expiresAtMs }) => ({
      id,
      current: id === sessionId,
      method,
      address,
      userAgent,
      createdAt: toInstant(createdAtMs),
      lastSeenAt: toInstant(seenAtMs),
      expiresAt: toInstant(expiresAtMs),
    })),
  };
});

const endOwnSession = implement(contract.endOwnSession, async ({ context: { store }, params, caller }) => {
  const { memberId } = asMember(caller);
  if (!(await store.sessions.end(params.id, memberId))) {
    throw new Problem('not_found', { detail: 'You have no such session; it is over already.' });
  }
  const entry = { action: 'console.sign_out', subject: caller.kind === 'member' ? caller.name : '' };
  await store.audit.add({ actor: actorOf(caller), ...entry, before: null, after: { session: params.id } });
  return undefined;
});

export default [changeMe, changePassword, listOwnSessions, endOwnSession];

/** The gate has seen to it that it is one. */
function asMember(caller: Caller): MemberCaller {
  if (caller.kind !== 'member') throw signedOut();
  return caller;
}

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
    const fields = [{ path: 'current', message: 'This is not the password that you have now.' }];
    throw new Problem('invalid_fields', { detail: 'Look at current.', fields });
  }
  await access.throttle.succeeded(account, address);
}
