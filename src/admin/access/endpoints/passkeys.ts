/** A member's own passkeys, and signing in with one. */

import * as z from 'zod';
import type { StoredMember } from '../../../core/member.ts';
import { actorOf } from '../../caller.ts';
import { type AnyEndpoint, type Call, defineEndpoint, replyWith } from '../../endpoint.ts';
import { Problem } from '../../problem.ts';
import { idParam, toInstant } from '../../shapes/common.ts';
import { browserJson, passkey, passkeyName } from '../contract/passkeys.ts';
import { session } from '../contract/session.ts';
import { tellSignIn } from '../sign-in.ts';
import { toSessionView } from '../views.ts';

const beginSignIn = defineEndpoint({
  method: 'POST',
  path: '/api/session/passkey/options',
  summary: 'Begin to sign in with a passkey',
  tag: 'Access',
  needs: 'anyone',
  answer: browserJson,
  run: ({ context, headers }) => context.passkeys.beginSignIn(context.access.consoleUrl(headers)),
});

const signIn = defineEndpoint({
  method: 'POST',
  path: '/api/session/passkey',
  summary: 'Sign in with a passkey',
  tag: 'Access',
  needs: 'anyone',
  body: browserJson,
  answer: session,
  async run(call) {
    const { context, headers, address, body } = call;
    const { throttle, failures, consoleUrl } = context.access;
    await throttle.begin(undefined, address);
    const attempt = { method: 'passkey', address } as const;
    const member = await failures.watch(attempt, () => context.passkeys.signIn(body, consoleUrl(headers)));
    await throttle.succeeded(undefined, address);
    const opened = await context.access.sessions.open(member, 'passkey', call);
    await tellSignIn(context.store.audit, opened);
    return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
  },
});

const listPasskeys = defineEndpoint({
  method: 'GET',
  path: '/api/me/passkeys',
  summary: 'List your own passkeys',
  tag: 'Access',
  needs: 'member',
  answer: z.object({ items: z.array(passkey), possible: z.boolean() }),
  async run(call) {
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
  },
});

const beginAdding = defineEndpoint({
  method: 'POST',
  path: '/api/me/passkeys/options',
  summary: 'Begin to add a passkey',
  tag: 'Access',
  needs: 'member',
  proof: true,
  answer: browserJson,
  async run(call) {
    const { context, headers } = call;
    return context.passkeys.beginAdding(await self(call), context.access.consoleUrl(headers));
  },
});

const addPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/passkeys',
  summary: 'Add a passkey',
  tag: 'Access',
  needs: 'member',
  proof: true,
  body: z.object({ name: passkeyName, answer: browserJson }),
  status: 201,
  async run(call) {
    const { context, headers, body, caller } = call;
    const url = context.access.consoleUrl(headers);
    await context.passkeys.add(await self(call), body.answer, body.name, url, actorOf(caller));
    return undefined;
  },
});

const renamePasskey = defineEndpoint({
  method: 'PATCH',
  path: '/api/me/passkeys/:id',
  summary: 'Give one of your passkeys another name',
  tag: 'Access',
  needs: 'member',
  params: idParam,
  body: z.object({ name: passkeyName }),
  async run(call) {
    const { context, params, body, caller } = call;
    const { passkeys } = context.store;
    if (!(await passkeys.rename(params.id, (await self(call)).id, body.name, actorOf(caller)))) throw unknown();
    return undefined;
  },
});

const removePasskey = defineEndpoint({
  method: 'DELETE',
  path: '/api/me/passkeys/:id',
  summary: 'Remove one of your passkeys',
  tag: 'Access',
  needs: 'member',
  proof: true,
  params: idParam,
  async run(call) {
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
  },
});

export const passkeyEndpoints: readonly AnyEndpoint[] = [
  beginSignIn,
  signIn,
  listPasskeys,
  beginAdding,
  addPasskey,
  renamePasskey,
  removePasskey,
];

async function self({ caller, context }: Pick<Call, 'caller' | 'context'>): Promise<StoredMember> {
  const member = caller.kind === 'member' ? await context.store.members.get(caller.memberId) : undefined;
  if (member !== undefined) return member;
  throw new Problem('sign_in_needed', { detail: 'Sign in first.' });
}

const unknown = (): Problem => new Problem('not_found', { detail: 'You have no such passkey.' });
