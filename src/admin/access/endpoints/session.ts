/** Who is signed in; signing in and out. */

import { implement, replyWith } from '../../implement.ts';
import * as contract from '../contract/session.ts';
import { tellSignOut } from '../sign-in.ts';
import { toSessionView } from '../views.ts';

const getSession = implement(contract.getSession, async ({ context, headers }) =>
  toSessionView(await context.access.sessions.find(headers), context),
);

const openSession = implement(contract.openSession, async ({ context, body, headers, address }) => {
  const opened = await context.access.signIn(body, { headers, address });
  return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
});

const endSession = implement(contract.endSession, async ({ context, caller }) => {
  const { access, store } = context;
  if (caller.kind === 'member' && (await store.sessions.end(caller.sessionId, caller.memberId))) {
    await tellSignOut(store.audit, caller);
  }
  return replyWith(undefined, { headers: { 'set-cookie': access.sessions.clearingCookie() } });
});

export default [getSession, openSession, endSession];
