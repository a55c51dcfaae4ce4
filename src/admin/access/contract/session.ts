/** Who is signed in, and by which ways one can be. */

import * as z from 'zod';
import { defineEndpoint } from '../../endpoint.ts';
import { roles } from '../../roles.ts';
import { instant } from '../../shapes/common.ts';
import { password } from './fields.ts';

export const role = z.enum(roles);

export const member = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role,
  createdAt: instant,
  lastSeenAt: instant.nullable(),
  /** Ways in which this member can sign in. */
  hasPassword: z.boolean(),
  passkeys: z.number().int(),
  /** Was let in by the identity provider once. */
  hasIdentityProvider: z.boolean(),
  /** Cannot sign in until an owner says otherwise. */
  disabled: z.boolean(),
});

/** What the console asks first. */
export const session = z.object({
  /** Null: nobody is signed in. */
  member: member.nullable(),
  /** To be sent as `x-postern-csrf` with every write; null where nobody is signed in. */
  csrfToken: z.string().nullable(),
  /** True until the first owner is made with the set-up link. */
  needsSetUp: z.boolean(),
  signIn: z.object({
    password: z.boolean(),
    passkey: z.boolean(),
    /** What to show on the button; null where there is none. */
    oidc: z
      .object({
        title: z.string(),
        makesFirstOwner: z.boolean().meta({
          description: 'Whether people may become the first owner by it: a group, or the default role, makes owners.',
        }),
      })
      .nullable(),
  }),
  version: z.string(),
});

const signIn = z.strictObject({ email: z.string().max(254), password });

export const getSession = defineEndpoint({
  method: 'GET',
  path: '/api/session',
  summary: 'Say who is signed in, and how one can sign in',
  tag: 'Access',
  needs: 'anyone',
  answer: session,
});

export const openSession = defineEndpoint({
  method: 'POST',
  path: '/api/session',
  summary: 'Sign in by e-mail address and password',
  tag: 'Access',
  needs: 'anyone',
  body: signIn,
  answer: session,
});

export const endSession = defineEndpoint({
  method: 'DELETE',
  path: '/api/session',
  summary: 'Sign out',
  tag: 'Access',
  // Whose session is over by now wants to be signed out too.
  needs: 'anyone',
});
