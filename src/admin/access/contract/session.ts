/** Signing in and proving who one is: by password, passkey, link or identity provider. */

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import * as z from 'zod';
import { invitationKinds } from '../../../core/store/members.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { roles } from '../../roles.ts';
import { idParam, instant } from '../../shapes/common.ts';

export const email = z
  .string()
  .trim()
  .max(254, 'Use at most 254 characters.')
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, 'Write it as name@example.com.');

export const name = z
  .string()
  .trim()
  .min(1, 'Write a name that others know.')
  .max(100, 'Use at most 100 characters.')
  .regex(/^[^\p{Cc}]*$/u, 'Leave out line breaks and other control characters.');

/** Longer than any that is accepted, and short enough that nobody has us work through a book. */
export const password = z.string().max(1_000, 'Use at most 200 characters.');
const linkToken = z.string().min(1).max(200).meta({ description: 'What stands behind `#token=` in the link.' });

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

const passwordSignIn = z.strictObject({ email: z.string().max(254), password });

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
  body: passwordSignIn,
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

const newOwner = z.strictObject({ token: linkToken, email, name, password });

const lookUp = z.strictObject({ token: linkToken });

export const lookedUp = z.object({
  kind: z.enum(invitationKinds),
  /** Null for the set-up, where the first owner says it. */
  email: z.string().nullable(),
  /** Known for a reset only. */
  name: z.string().nullable(),
  role,
  expiresAt: instant,
});

const acceptance = z.strictObject({
  token: linkToken,
  /** Not needed where the link is for another password. */
  name: name.optional(),
  password,
});

export const setUpFirst = defineEndpoint({
  method: 'POST',
  path: '/api/setup',
  summary: 'Become the first owner, with the set-up link that each start makes until then',
  tag: 'Access',
  needs: 'anyone',
  body: newOwner,
  answer: session,
});

export const look = defineEndpoint({
  method: 'POST',
  path: '/api/invitations/look',
  summary: 'Say what a link is good for',
  tag: 'Access',
  needs: 'anyone',
  body: lookUp,
  answer: lookedUp,
});

export const acceptInvitation = defineEndpoint({
  method: 'POST',
  path: '/api/invitations/accept',
  summary: 'Become a member with an invitation, or set another password with a link for that',
  tag: 'Access',
  needs: 'anyone',
  body: acceptance,
  answer: session,
});

export const beginOidc = defineEndpoint({
  method: 'GET',
  path: '/api/session/oidc',
  summary: 'Go to the identity provider to sign in',
  tag: 'Access',
  needs: 'anyone',
  streams: 'text/html',
  query: z.object({
    page: z.string().max(2_000).optional().meta({ description: 'The page to come back to.' }),
    proof: z
      .literal('fresh')
      .optional()
      .meta({ description: 'Who is signed in proves to be there: the provider has to ask anew (`max_age=0`).' }),
  }),
});

export const endOidc = defineEndpoint({
  method: 'GET',
  path: '/api/session/oidc/callback',
  summary: 'Come back from the identity provider',
  tag: 'Access',
  needs: 'anyone',
  streams: 'text/html',
  // The provider's own, which the library reads from the address.
  query: z.looseObject({ code: z.string().optional(), state: z.string().optional(), error: z.string().optional() }),
});

export const passkey = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
});

const passkeyName = z
  .string()
  .trim()
  .min(1, { error: 'Give it a name by which you know the device, such as "Laptop".' })
  .max(60, { error: 'The name may have 60 characters at most.' });

/** What a device answers, as the browser's own API has it, in JSON. */
const deviceAnswer = z.record(z.string(), z.unknown());

/** What the browser asks a device for: it is made by a library, and goes out as it is. */
const optionsOf = <Options extends object>() =>
  z.custom<Options>((value) => typeof value === 'object' && value !== null).meta({ type: 'object' });

const signingOptions = optionsOf<PublicKeyCredentialRequestOptionsJSON>();
const makingOptions = optionsOf<PublicKeyCredentialCreationOptionsJSON>();

export const beginSignIn = defineEndpoint({
  method: 'POST',
  path: '/api/session/passkey/options',
  summary: 'Begin to sign in with a passkey',
  tag: 'Access',
  needs: 'anyone',
  answer: signingOptions,
});

export const signIn = defineEndpoint({
  method: 'POST',
  path: '/api/session/passkey',
  summary: 'Sign in with a passkey',
  tag: 'Access',
  needs: 'anyone',
  body: deviceAnswer,
  answer: session,
});

export const listPasskeys = defineEndpoint({
  method: 'GET',
  path: '/api/me/passkeys',
  summary: 'List your own passkeys',
  tag: 'Access',
  needs: 'member',
  answer: z.object({ items: z.array(passkey), possible: z.boolean() }),
});

export const beginAdding = defineEndpoint({
  method: 'POST',
  path: '/api/me/passkeys/options',
  summary: 'Begin to add a passkey',
  tag: 'Access',
  needs: 'member',
  proof: true,
  answer: makingOptions,
});

export const addPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/passkeys',
  summary: 'Add a passkey',
  tag: 'Access',
  needs: 'member',
  proof: true,
  body: z.object({ name: passkeyName, answer: deviceAnswer }),
  status: 201,
});

export const renamePasskey = defineEndpoint({
  method: 'PATCH',
  path: '/api/me/passkeys/:id',
  summary: 'Give one of your passkeys another name',
  tag: 'Access',
  needs: 'member',
  params: idParam,
  body: z.object({ name: passkeyName }),
});

export const removePasskey = defineEndpoint({
  method: 'DELETE',
  path: '/api/me/passkeys/:id',
  summary: 'Remove one of your passkeys',
  tag: 'Access',
  needs: 'member',
  proof: true,
  params: idParam,
});

const passwordProof = z.strictObject({ password });

export const byPassword = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof',
  summary: 'Prove by your password that it is you: good for five minutes, and the session gets a new cookie',
  tag: 'Me',
  needs: 'member',
  body: passwordProof,
  answer: session,
});

export const beginPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof/passkey/options',
  summary: 'Begin to prove with a passkey that it is you',
  tag: 'Me',
  needs: 'member',
  answer: signingOptions,
});

export const byPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof/passkey',
  summary: 'Prove with a passkey that it is you: good for five minutes, and the session gets a new cookie',
  tag: 'Me',
  needs: 'member',
  body: deviceAnswer,
  answer: session,
});
