/** Who is signed in. */

import { defineEndpoint } from '../endpoint.ts';
import { session } from '../shapes/session.ts';

export const getSession = defineEndpoint({
  method: 'GET',
  path: '/api/session',
  summary: 'Say who is signed in, and how one can sign in',
  tag: 'Access',
  needs: 'anyone',
  answer: session,
  run: ({ context }) => ({
    member: null,
    csrfToken: null,
    needsSetUp: true,
    signIn: { password: true, passkey: false, oidc: null },
    version: context.version,
  }),
});
