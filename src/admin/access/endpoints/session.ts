/** Implements the endpoints for sign-in and sign-out by password, link or passkey, and for re-authentication before sensitive actions. */

import type * as z from 'zod';
import type { OidcSettings } from '../../../core/snapshot.ts';
import { foldEmail, type StoredMember } from '../../../core/store/members.ts';
import { digestOf } from '../../../lib/secrets/key-secret.ts';
import { actorOf } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { type Call, implement, Reply } from '../../implement.ts';
import { invalidField, lookAtField, Problem } from '../../problem.ts';
import { toShown } from '../../shapes/common.ts';
import * as contract from '../contract/access.ts';
import { checkPassword } from '../passwords.ts';
import { type LiveSession, type OpenedSession, signInFailed } from '../sessions.ts';
import { type Attempt, asMember } from '../sign-in.ts';

export const getSession = implement(contract.getSession, async ({ context, headers }) =>
  toSessionView(await context.access.sessions.find(headers), context),
);

export const openSession = implement(contract.openSession, async (call) => {
  const { store, access } = call.context;
  const account = foldEmail(call.body.email);
  return enter(call, {
    ...{ purpose: 'sign_in', method: 'password', account },
    async prove() {
      const member = await store.members.findByEmail(account);
      // Takes as long, and says the same, where there is no such account.
      const fits = await access.passwords.verify(call.body.password, member?.passwordHash);
      if (!fits || member === undefined || member.disabledAtMs !== undefined) throw signInFailed();
      return { member };
    },
  });
});

export const endSession = implement(contract.endSession, async ({ context, caller }) => {
  const { access, store } = context;
  if (caller.kind === 'member' && (await store.sessions.end(caller.sessionId, caller.memberId))) {
    await access.signIn.logSignOut(caller);
  }
  return new Reply(undefined, { headers: { 'set-cookie': access.sessions.clearingCookie() } });
});

export const setUpFirst = implement(contract.setUpFirst, async (call) => accept('set-up', call.body, call));

export const look = implement(contract.look, async ({ context, body }) => {
  const found = await context.store.invitations.find(digestOf(body.token));
  if (found === undefined) throw linkIsOver();
  const member = found.memberId === undefined ? undefined : await context.store.members.get(found.memberId);
  return { ...toShown(found), name: member?.name ?? null };
});

export const acceptInvitation = implement(contract.acceptInvitation, async (call) =>
  accept('invited', call.body, call),
);

type Person = Call<typeof contract.acceptInvitation>['body'] & { readonly email?: string };

async function accept(
  way: 'set-up' | 'invited',
  person: Person,
  { context, headers, address }: Pick<Call, 'context' | 'headers' | 'address'>,
) {
  const { store, access } = context;
  const digest = digestOf(person.token);
  // Before anything that takes long.
  const found = await store.invitations.find(digest);
  if (found === undefined || (found.kind === 'set-up') !== (way === 'set-up')) throw linkIsOver();
  const email = found.email ?? person.email ?? '';
  checkPassword(person.password, email, 'password');
  if (found.kind !== 'reset' && person.name === undefined) throw lookAtField('name', 'Give your name.');
  await access.throttle.begin(undefined, address);
  const passwordHash = await access.passwords.hash(person.password);
  const member = await store.invitations.accept(digest, { email, name: person.name ?? '', passwordHash });
  if (member === 'absent') throw linkIsOver();
  if (member === 'taken') {
    throw new Problem('already_there', {
      detail: `${email} is a member already; sign in, or ask an owner for a new password.`,
    });
  }
  // A reset by an owner's link starts without earlier failed attempts.
  await access.throttle.succeeded(member.email, address);
  return toReply(await access.signIn.open('sign_in', { member }, 'link', { headers, address }), context);
}

function linkIsOver(): Problem {
  return new Problem('not_found', {
    detail: 'This link was used, is too old, or was replaced by another; ask an owner for a new one.',
  });
}

export const beginSignIn = implement(contract.beginSignIn, ({ context, headers }) =>
  context.passkeys.beginSignIn(context.access.consoleUrl(headers)),
);

export const signIn = implement(contract.signIn, async (call) => {
  const { passkeys, access } = call.context;
  const prove = async () => ({ member: await passkeys.signIn(call.body, access.consoleUrl(call.headers)) });
  return enter(call, { purpose: 'sign_in', method: 'passkey', prove });
});

export const listPasskeys = implement(contract.listPasskeys, async (call) => {
  const { context, headers } = call;
  const found = await context.store.passkeys.listOf((await self(call)).id);
  return {
    items: found.map(toShown),
    possible: context.passkeys.isPossible(context.access.consoleUrl(headers)),
  };
});

export const beginAdding = implement(contract.beginAdding, async (call) => {
  const { context, headers } = call;
  return context.passkeys.beginAdding(await self(call), context.access.consoleUrl(headers));
});

export const addPasskey = implement(contract.addPasskey, async (call) => {
  const { context, headers, body, caller } = call;
  const url = context.access.consoleUrl(headers);
  await context.passkeys.add(await self(call), body.answer, body.name, url, actorOf(caller));
});

export const renamePasskey = implement(contract.renamePasskey, async (call) => {
  const { context, params, body, caller } = call;
  const { passkeys } = context.store;
  if (!(await passkeys.rename(params.id, (await self(call)).id, body.name, actorOf(caller)))) throw unknown();
});

export const removePasskey = implement(contract.removePasskey, async (call) => {
  const { context, params, caller } = call;
  const member = await self(call);
  const others = (await context.store.passkeys.listOf(member.id)).filter(({ id }) => id !== params.id);
  if (others.length === 0 && member.passwordHash === undefined && member.oidcSubject === undefined) {
    throw new Problem('in_use', {
      detail: 'It is your only way to sign in; set a password first, or add another passkey.',
    });
  }
  if (!(await context.store.passkeys.remove(params.id, member.id, actorOf(caller)))) throw unknown();
});

async function self({ caller, context }: Pick<Call, 'caller' | 'context'>): Promise<StoredMember> {
  const member = caller.kind === 'member' ? await context.store.members.get(caller.memberId) : undefined;
  if (member !== undefined) return member;
  throw new Problem('sign_in_needed', { detail: 'Sign in first.' });
}

const unknown = (): Problem => new Problem('not_found', { detail: 'You have no such passkey.' });

export const byPassword = implement(contract.byPassword, async (call) => {
  const { store, access } = call.context;
  const { memberId, name: account } = asMember(call.caller);
  return enter(call, {
    ...{ purpose: 'proof', method: 'password', account },
    async prove() {
      const member = await store.members.get(memberId);
      const fits = await access.passwords.verify(call.body.password, member?.passwordHash);
      if (!fits || member === undefined) throw invalidField('password', 'This is not your password.');
      return { member };
    },
  });
});

export const beginPasskey = implement(contract.beginPasskey, ({ context, caller, headers }) =>
  context.passkeys.beginProof(asMember(caller).memberId, context.access.consoleUrl(headers)),
);

export const byPasskey = implement(contract.byPasskey, async (call) => {
  const { passkeys, access } = call.context;
  const { memberId, name: account } = asMember(call.caller);
  const prove = async () => ({ member: await passkeys.prove(memberId, call.body, access.consoleUrl(call.headers)) });
  return enter(call, { purpose: 'proof', method: 'passkey', account, prove });
});

async function enter(call: Pick<Call, 'context' | 'headers' | 'address'>, attempt: Attempt) {
  return toReply(await call.context.access.signIn.enter(attempt, call), call.context);
}

const toReply = async (opened: OpenedSession, context: AdminContext) =>
  new Reply(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });

export function toMemberView(member: StoredMember): z.input<typeof contract.member> {
  const { passwordHash, oidcSubject, disabledAtMs, ...others } = member;
  const means = { hasPassword: passwordHash !== undefined, hasIdentityProvider: oidcSubject !== undefined };
  return { ...toShown(others), ...means, disabled: disabledAtMs !== undefined };
}

function toProvider({ title, roles, default_role: defaultRole }: OidcSettings) {
  return { title, makesFirstOwner: defaultRole === 'owner' || roles.owner.length > 0 };
}

/** The answer to the console's first request, and to every sign-in. */
export async function toSessionView(
  live: Pick<LiveSession, 'member' | 'csrfToken'> | undefined,
  context: AdminContext,
): Promise<z.input<typeof contract.session>> {
  const oidc = context.oidc.current();
  return {
    member: live === undefined ? null : toMemberView(live.member),
    csrfToken: live?.csrfToken ?? null,
    needsSetUp: live === undefined && !(await context.store.members.any()),
    signIn: { password: true, passkey: true, oidc: oidc === undefined ? null : toProvider(oidc.settings) },
    version: context.version,
  };
}
