/** Proving that it is oneself before what gives lasting power: the session is opened anew, so that whoever copied its cookie is out. */

import type { Caller, MemberCaller } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { type AnyEndpoint, defineEndpoint, replyWith } from '../../endpoint.ts';
import { passwordProof } from '../contract/access.ts';
import { browserJson } from '../contract/passkeys.ts';
import { session } from '../contract/session.ts';
import { proveByPassword, tellProof } from '../proof.ts';
import { type OpenedSession, signedOut } from '../sessions.ts';
import { toSessionView } from '../views.ts';

const byPassword = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof',
  summary: 'Prove by your password that it is you: good for five minutes, and the session gets a new cookie',
  tag: 'Me',
  needs: 'member',
  body: passwordProof,
  answer: session,
  async run({ context, caller, body, headers, address }) {
    const origin = { headers, address };
    return toReply(await proveByPassword(asMember(caller), body.password, { context, origin }), context);
  },
});

const beginPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof/passkey/options',
  summary: 'Begin to prove with a passkey that it is you',
  tag: 'Me',
  needs: 'member',
  answer: browserJson,
  run: ({ context, caller, headers }) =>
    context.passkeys.beginProof(asMember(caller).memberId, context.access.consoleUrl(headers)),
});

const byPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof/passkey',
  summary: 'Prove with a passkey that it is you: good for five minutes, and the session gets a new cookie',
  tag: 'Me',
  needs: 'member',
  body: browserJson,
  answer: session,
  async run({ context, caller, body, headers, address }) {
    const { memberId, name } = asMember(caller);
    const { throttle, failures, sessions, consoleUrl } = context.access;
    await throttle.begin(name, address);
    const attempt = { action: 'console.proof_failed', method: 'passkey', address } as const;
    const prove = () => context.passkeys.prove(memberId, body, consoleUrl(headers));
    const member = await failures.watch(attempt, prove, name);
    await throttle.succeeded(name, address);
    const opened = await sessions.open(member, 'passkey', { headers, address });
    await tellProof(opened, context.store.audit);
    return toReply(opened, context);
  },
});

export const proofEndpoints: readonly AnyEndpoint[] = [byPassword, beginPasskey, byPasskey];

/** The gate has seen to it that it is one. */
function asMember(caller: Caller): MemberCaller {
  if (caller.kind === 'member') return caller;
  throw signedOut();
}

async function toReply(opened: OpenedSession, context: AdminContext) {
  return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
}
