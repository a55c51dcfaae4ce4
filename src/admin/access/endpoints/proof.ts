/** Proving that it is oneself before what gives lasting power: the session is opened anew, so that whoever copied its cookie is out. */

import type { Caller, MemberCaller } from '../../caller.ts';
import type { AdminContext } from '../../context.ts';
import { implement, replyWith } from '../../implement.ts';
import * as contract from '../contract/proof.ts';
import { proveByPassword, tellProof } from '../proof.ts';
import { type OpenedSession, signedOut } from '../sessions.ts';
import { toSessionView } from '../views.ts';

const byPassword = implement(contract.byPassword, async ({ context, caller, body, headers, address }) => {
  const origin = { headers, address };
  return toReply(await proveByPassword(asMember(caller), body.password, { context, origin }), context);
});

const beginPasskey = implement(contract.beginPasskey, ({ context, caller, headers }) =>
  context.passkeys.beginProof(asMember(caller).memberId, context.access.consoleUrl(headers)),
);

const byPasskey = implement(contract.byPasskey, async ({ context, caller, body, headers, address }) => {
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
});

export default [byPassword, beginPasskey, byPasskey];

/** The gate has seen to it that it is one. */
function asMember(caller: Caller): MemberCaller {
  if (caller.kind === 'member') return caller;
  throw signedOut();
}

async function toReply(opened: OpenedSession, context: AdminContext) {
  return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
}
