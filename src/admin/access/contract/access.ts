/** Contract: sign-in and re-authentication, members, invitations, a member's own settings, and API tokens. */

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import * as z from 'zod';
import { invitationKinds, memberMeans, sessionMethods } from '../../../core/store/members.ts';
import { endpointsOf } from '../../endpoint.ts';
import { roles } from '../../roles.ts';
import { instant } from '../../shapes/common.ts';

const accessEndpoint = endpointsOf('Access');
const meEndpoint = endpointsOf('Me');

const email = z
  .string()
  .trim()
  .max(254, 'Use at most 254 characters.')
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, 'Write it as name@example.com.');

const name = z
  .string()
  .trim()
  .min(1, 'Write a name that others know.')
  .max(100, 'Use at most 100 characters.')
  .regex(/^[^\p{Cc}]*$/u, 'Leave out line breaks and other control characters.');

/** Longer than any accepted password, and short enough for cheap hashing. */
const password = z.string().max(1_000, 'Use at most 200 characters.');
const linkToken = z.string().min(1).max(200).describe('What stands behind `#token=` in the link.');

const role = z.enum(roles);

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
  /** Signed in by the identity provider before. */
  hasIdentityProvider: z.boolean(),
  /** Cannot sign in until an owner enables it. */
  disabled: z.boolean(),
});

/** The console's first request. */
export const session = z.object({
  /** Null: not signed in. */
  member: member.nullable(),
  /** Sent as `x-postern-csrf` with every write; null unless signed in. */
  csrfToken: z.string().nullable(),
  /** True until the set-up link creates the first owner. */
  needsSetUp: z.boolean(),
  signIn: z.object({
    password: z.boolean(),
    passkey: z.boolean(),
    /** The button's text; null without an identity provider. */
    oidc: z
      .object({
        title: z.string(),
        makesFirstOwner: z
          .boolean()
          .describe('Whether people may become the first owner by it: a group, or the default role, makes owners.'),
      })
      .nullable(),
  }),
  version: z.string(),
});

export const getSession = accessEndpoint('GET /api/session', 'anyone', {
  summary: 'Say who is signed in, and how one can sign in',
  answer: session,
});

export const openSession = accessEndpoint('POST /api/session', 'anyone', {
  summary: 'Sign in by e-mail address and password',
  body: z.strictObject({ email: z.string().max(254), password }),
  answer: session,
});

// Signing out of an ended session is valid too.
export const endSession = accessEndpoint('DELETE /api/session', 'anyone', { summary: 'Sign out' });

export const lookedUp = z.object({
  kind: z.enum(invitationKinds),
  /** Null for the set-up, where the first owner enters it. */
  email: z.string().nullable(),
  /** For a reset only. */
  name: z.string().nullable(),
  role,
  expiresAt: instant,
});

export const setUpFirst = accessEndpoint('POST /api/setup', 'anyone', {
  summary: 'Become the first owner, with the set-up link that each start makes until then',
  body: z.strictObject({ token: linkToken, email, name, password }),
  answer: session,
});

export const look = accessEndpoint('POST /api/invitations/look', 'anyone', {
  summary: 'Say what a link is good for',
  body: z.strictObject({ token: linkToken }),
  answer: lookedUp,
});

export const acceptInvitation = accessEndpoint('POST /api/invitations/accept', 'anyone', {
  summary: 'Become a member with an invitation, or set another password with a link for that',
  body: z.strictObject({
    token: linkToken,
    /** Not needed for a password reset. */
    name: name.optional(),
    password,
  }),
  answer: session,
});

export const beginOidc = accessEndpoint('GET /api/session/oidc', 'anyone', {
  summary: 'Go to the identity provider to sign in',
  streams: 'text/html',
  query: z.object({
    page: z.string().max(2_000).optional().describe('The page to come back to.'),
    proof: z
      .literal('fresh')
      .optional()
      .describe('Who is signed in proves to be there: the provider has to ask anew (`max_age=0`).'),
  }),
});

export const endOidc = accessEndpoint('GET /api/session/oidc/callback', 'anyone', {
  summary: 'Come back from the identity provider',
  streams: 'text/html',
  // The provider's own parameters, which the library reads from the URL.
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

/** A device's answer in the JSON form of the browser's API. */
const deviceAnswer = z.record(z.string(), z.unknown());

/** Options for a device, made by a library, and sent unchanged. */
const optionsOf = <Options extends object>() =>
  z.custom<Options>((value) => typeof value === 'object' && value !== null).meta({ type: 'object' });

const signingOptions = optionsOf<PublicKeyCredentialRequestOptionsJSON>();

export const beginSignIn = accessEndpoint('POST /api/session/passkey/options', 'anyone', {
  summary: 'Begin to sign in with a passkey',
  answer: signingOptions,
});

export const signIn = accessEndpoint('POST /api/session/passkey', 'anyone', {
  summary: 'Sign in with a passkey',
  body: deviceAnswer,
  answer: session,
});

export const listPasskeys = accessEndpoint('GET /api/me/passkeys', 'member', {
  summary: 'List your own passkeys',
  answer: z.object({ items: z.array(passkey), possible: z.boolean() }),
});

export const beginAdding = accessEndpoint('POST /api/me/passkeys/options', 'member', {
  summary: 'Begin to add a passkey',
  proof: true,
  answer: optionsOf<PublicKeyCredentialCreationOptionsJSON>(),
});

export const addPasskey = accessEndpoint('POST /api/me/passkeys', 'member', {
  summary: 'Add a passkey',
  proof: true,
  body: z.object({ name: passkeyName, answer: deviceAnswer }),
  status: 201,
});

export const renamePasskey = accessEndpoint('PATCH /api/me/passkeys/:id', 'member', {
  summary: 'Give one of your passkeys another name',
  body: z.object({ name: passkeyName }),
});

export const removePasskey = accessEndpoint('DELETE /api/me/passkeys/:id', 'member', {
  summary: 'Remove one of your passkeys',
  proof: true,
});

export const byPassword = meEndpoint('POST /api/me/proof', 'member', {
  summary: 'Prove by your password that it is you: good for five minutes, and the session gets a new cookie',
  body: z.strictObject({ password }),
  answer: session,
});

export const beginPasskey = meEndpoint('POST /api/me/proof/passkey/options', 'member', {
  summary: 'Begin to prove with a passkey that it is you',
  answer: signingOptions,
});

export const byPasskey = meEndpoint('POST /api/me/proof/passkey', 'member', {
  summary: 'Prove with a passkey that it is you: good for five minutes, and the session gets a new cookie',
  body: deviceAnswer,
  answer: session,
});

const membersEndpoint = endpointsOf('Members');
const tokensEndpoint = endpointsOf('Tokens');

export const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role,
  invitedBy: z.string(),
  createdAt: instant,
  expiresAt: instant,
});

/** No body is the same as an empty object. */
const reset = z
  .strictObject({
    keep: z
      .array(z.enum(memberMeans))
      .optional()
      .describe('What goes on working; all of it ends where nothing is said.'),
  })
  .optional();

export const madeLink = z.object({
  /** To be given to the person; shown only now. */
  link: z.string(),
  expiresAt: instant,
});

export const listMembers = membersEndpoint('GET /api/members', 'viewer', {
  summary: 'List members, and the invitations that are open',
  answer: z.object({
    items: z.array(member),
    /** Not accepted yet; the links themselves are shown once, when they are created. */
    invitations: z.array(invitation),
  }),
});

export const inviteMember = membersEndpoint('POST /api/members', 'owner', {
  summary: 'Invite somebody: the answer is a link to hand over',
  proof: true,
  body: z.strictObject({ email, role }),
  answer: madeLink,
  status: 201,
  once: true,
});

export const withdrawInvitation = membersEndpoint('DELETE /api/invitations/:id', 'owner', {
  summary: 'Withdraw an invitation: its link works no more',
});

export const changeMember = membersEndpoint('PATCH /api/members/:id', 'owner', {
  summary: "Change a member's role or name, or keep the member from signing in",
  proof: true,
  body: z.strictObject({
    role: role.optional(),
    name: name.optional(),
    disabled: z.boolean().optional(),
  }),
  answer: member,
});

export const removeMember = membersEndpoint('DELETE /api/members/:id', 'owner', {
  summary: 'Remove a member, with its sessions, tokens and passkeys',
  proof: true,
});

export const resetMember = membersEndpoint('POST /api/members/:id/reset', 'owner', {
  summary: 'Make a link with which a member sets another password; tokens and passkeys that are not kept end',
  proof: true,
  body: reset,
  answer: madeLink,
  status: 201,
  once: true,
});

export const ownSession = z.object({
  id: z.string(),
  /** The requesting session. */
  current: z.boolean(),
  method: z.enum(sessionMethods),
  address: z.string(),
  userAgent: z.string(),
  createdAt: instant,
  lastSeenAt: instant,
  expiresAt: instant,
});

export const changeMe = meEndpoint('PATCH /api/me', 'member', {
  summary: 'Change your name',
  body: z.strictObject({ name }),
  answer: member,
});

export const changePassword = meEndpoint('POST /api/me/password', 'member', {
  summary: 'Set another password: every other session ends, and this one gets a new cookie',
  body: z.strictObject({
    /** Absent where the member has none yet. */
    current: password.optional(),
    next: password,
  }),
  answer: session,
});

export const listOwnSessions = meEndpoint('GET /api/me/sessions', 'member', {
  summary: 'List where you are signed in',
  answer: z.object({ items: z.array(ownSession) }),
});

export const endOwnSession = meEndpoint('DELETE /api/me/sessions/:id', 'member', {
  summary: 'Sign out somewhere else',
});

export const apiToken = z.object({
  id: z.string(),
  name: z.string(),
  /** The first characters of the secret. */
  hint: z.string(),
  role,
  memberId: z.string(),
  memberName: z.string(),
  createdAt: instant,
  expiresAt: instant.nullable(),
  lastUsedAt: instant.nullable(),
  revokedAt: instant.nullable(),
});

export const madeApiToken = z.object({
  token: apiToken,
  /** Shown only now. */
  secret: z.string(),
});

export const listTokens = tokensEndpoint('GET /api/tokens', 'member', {
  summary: "List your API tokens, or everybody's where you are an owner",
  answer: z.object({ items: z.array(apiToken) }),
});

// A token must not create tokens that outlive it.
export const createToken = tokensEndpoint('POST /api/tokens', 'member', {
  summary: 'Make an API token: its secret is shown only in the answer',
  proof: true,
  body: z.strictObject({
    name,
    role,
    expiresAt: instant.nullable().optional().describe('Left out or null: it holds until it is revoked.'),
  }),
  answer: madeApiToken,
  status: 201,
  once: true,
});

export const revokeToken = tokensEndpoint('DELETE /api/tokens/:id', 'member', {
  summary: 'Revoke an API token, for good',
});
