/** Who is signed in; signing in and out. */

import { defineEndpoint, replyWith } from '../../endpoint.ts';
import { signIn } from '../contract/access.ts';
import { session } from '../contract/session.ts';
import { tellSignOut } from '../sign-in.ts';
import { toSessionView } from '../views.ts';

const getSession = defineEndpoint({
  method: 'GET',
  path: '/api/session',
  summary: 'Say who is signed in, and how one can sign in',
  tag: 'Access',
  needs: 'anyone',
  answer: session,
  run: async ({ context, headers }) => toSessionView(await context.access.sessions.find(headers), context),
});

const openSession = defineEndpoint({
  method: 'POST',
  path: '/api/session',
  summary: 'Sign in by e-mail address and password',
  tag: 'Access',
  needs: 'anyone',
  body: signIn,
  answer: session,
  async run({ context, body, headers, address }) {
    const opened = await context.access.signIn(body, { headers, address });
    return replyWith(await toSessionView(opened, context), { headers: { 'set-cookie': opened.cookie } });
  },
});

const endSession = defineEndpoint({
  method: 'DELETE',
  path: '/api/session',
  summary: 'Sign out',
  tag: 'Access',
  // Whose session is over by now wants to be signed out too.
  needs: 'anyone',
  async run({ context, caller }) {
    const { access, store } = context;
    if (caller.kind === 'member' && (await store.sessions.end(caller.sessionId, caller.memberId))) {
      await tellSignOut(store.audit, caller);
    }
    return replyWith(undefined, { headers: { 'set-cookie': access.sessions.clearingCookie() } });
  },
});

export const sessionEndpoints = [getSession, openSession, endSession];
