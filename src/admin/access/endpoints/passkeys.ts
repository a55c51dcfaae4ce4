/** A member's own passkeys, and signing in with one. */

import type { StoredMember } from '../../../core/store/members.ts';
import { actorOf } from '../../caller.ts';
import { type Call, implement, replyWith } from '../../implement.ts';
import { Problem } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import * as contract from '../contract/passkeys.ts';
import { tellSignIn } from '../sign-in.ts';
import { toSessionView } from '../views.ts';

const beginSignIn = implement(contract.beginSignIn, ({ context, headers }) =>
  context.passkeys.beginSignIn(context.access.consoleUrl(headers)),
);

const signIn = implement(contract.signIn, async (call) => {
  const { context, headers, address, body } = call;
  const { throttle, failures, consoleUrl } = context.access;
  await throttle.begin(undefined, address);
  const attempt = { method: 'passkey', address } as const;
  const member = await failures.watch(attempt, () => context.passkeys.signIn(body, consoleUrl(headers)));
  await throttle.succeeded(undefined, address);
  const opened = await context.access.sessions.open(member, 'passkey', call);
  await tellSignIn(context.store.audit, opened);
  return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
});

const listPasskeys = implement(contract.listPasskeys, async (call) => {
  const { context, headers } = call;
  const found = await context.store.passkeys.listOf((await self(call)).id);
  return {
    items: found.map(({ id, name, createdAtMs, lastUsedAtMs }) => ({
      id,
      name,
      createdAt: toInstant(createdAtMs),
      lastUsedAt: lastUsedAtMs === undefined ? null : toInstant(lastUsedAtMs),
    })),
    possible: context.passkeys.isPossible(context.access.consoleUrl(headers)),
  };
});

const beginAdding = implement(contract.beginAdding, async (call) => {
  const { context, headers } = call;
  return context.passkeys.beginAdding(await self(call), context.access.consoleUrl(headers));
});

const addPasskey = implement(contract.addPasskey, async (call) => {
  const { context, headers, body, caller } = call;
  const url = context.access.consoleUrl(headers);
  await context.passkeys.add(await self(call), body.answer, body.name, url, actorOf(caller));
  return undefined;
});

const renamePasskey = implement(contract.renamePasskey, async (call) => {
  const { context, params, body, caller } = call;
  const { passkeys } = context.store;
  if (!(await passkeys.rename(params.id, (await self(call)).id, body.name, actorOf(caller)))) throw unknown();
  return undefined;
});

const removePasskey = implement(contract.removePasskey, async (call) => {
  const { context, params, caller } = call;
  const member = await self(call);
  const others = (await context.store.passkeys.listOf(member.id)).filter(({ id }) => id !== params.id);
  if (others.length === 0 && member.passwordHash === undefined && member.oidcSubject === undefined) {
    throw new Problem('in_use', {
      detail: 'It is your only way to sign in; set a password first, or add another passkey.',
    });
  }
  if (!(await context.store.passkeys.remove(params.id, member.id, actorOf(caller)))) throw unknown();
  return undefined;
});

export default [beginSignIn, signIn, listPasskeys, beginAdding, addPasskey, renamePasskey, removePasskey];

async function self({ caller, context }: Pick<Call, 'caller' | 'context'>): Promise<StoredMember> {
  const member = caller.kind === 'member' ? await context.store.members.get(caller.memberId) : undefined;
  if (member !== undefined) return member;
  throw new Problem('sign_in_needed', { detail: 'Sign in first.' });
}

const unknown = (): Problem => new Problem('not_found', { detail: 'You have no such passkey.' });
