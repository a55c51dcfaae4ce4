/** Declares the endpoints for sign-in, re-authentication, members, invitations, a member's own settings, and API tokens. */

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import * as z from 'zod';
import { visibleName } from '../../../core/model-name.ts';
import { roles } from '../../../core/role.ts';
import { invitationKinds, memberMeans, sessionMethods } from '../../../core/store/members.ts';
import { endpointsOf } from '../../endpoint.ts';
import { instant } from '../../shapes/common.ts';

const accessEndpoint = endpointsOf('Access');
const meEndpoint = endpointsOf('Me');

const email = z
  .string()
  .trim()
  .max(254, 'Use at most 254 characters.')
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, 'Write it as name@example.com.');

const nameOf = (missing: string, most: number) =>
  z
    .string()
    .trim()
    .min(1, missing)
    .max(most, `Use at most ${most} characters.`)
    .regex(visibleName, 'Leave out line breaks and invisible characters.');

const name = nameOf('Give a name that other members recognise.', 100);
const passkeyName = nameOf('Give the device a name, such as "Laptop".', 60);

/** Longer than any accepted password, and short enough to be hashed cheaply. */
const password = z.string().max(1_000, 'Use at most 200 characters.');
const linkToken = z.string().min(1).max(200).describe('The part of the link after `#token=`.');

const role = z.enum(roles);

export const member = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role,
  createdAt: instant,
  lastSeenAt: instant.nullable(),
  /** Whether this member can sign in with a password; below it, the number of passkeys. */
  hasPassword: z.boolean(),
  passkeys: z.number().int(),
  /** True once the member has signed in through the identity provider. */
  hasIdentityProvider: z.boolean(),
  /** True where the member cannot sign in until an owner enables it. */
  disabled: z.boolean(),
});

/** The answer to the console's first request: who is signed in, and how people can sign in. */
export const session = z.object({
  /** The signed-in member; null where nobody is signed in. */
  member: member.nullable(),
  /** The client sends it as `x-postern-csrf` with every write; null unless signed in. */
  csrfToken: z.string().nullable(),
  /** True until the set-up link creates the first owner. */
  needsSetUp: z.boolean(),
  signIn: z.object({
    password: z.boolean(),
    passkey: z.boolean(),
    /** The text of the button for the identity provider; null where none is configured. */
    oidc: z
      .object({
        title: z.string(),
        makesFirstOwner: z
          .boolean()
          .describe(
            'Whether signing in with it can create the first owner: a group, or the default role, has the role owner.',
          ),
      })
      .nullable(),
  }),
  version: z.string(),
});

export const getSession = accessEndpoint('GET /api/session', 'anyone', {
  summary: 'Get the signed-in member and the available ways to sign in',
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
  /** The invited person's e-mail address; null for the set-up, where the first owner enters it. */
  email: z.string().nullable(),
  /** The member's name; only set where the link resets a password. */
  name: z.string().nullable(),
  role,
  expiresAt: instant,
});

export const setUpFirst = accessEndpoint('POST /api/setup', 'anyone', {
  summary: 'Create the first owner with the set-up link, which each start prints until there is an owner',
  body: z.strictObject({ token: linkToken, email, name, password }),
  answer: session,
});

export const look = accessEndpoint('POST /api/invitations/look', 'anyone', {
  summary: 'Get the purpose of a link',
  body: z.strictObject({ token: linkToken }),
  answer: lookedUp,
});

export const acceptInvitation = accessEndpoint('POST /api/invitations/accept', 'anyone', {
  summary: 'Accept an invitation, or set a new password with a reset link',
  body: z.strictObject({
    token: linkToken,
    /** The member's name; not needed for a password reset. */
    name: name.optional(),
    password,
  }),
  answer: session,
});

export const beginOidc = accessEndpoint('GET /api/session/oidc', 'anyone', {
  summary: 'Redirect to the identity provider to sign in',
  streams: 'text/html',
  query: z.strictObject({
    page: z.string().max(2_000).optional().describe('The page to return to.'),
    proof: z
      .literal('fresh')
      .optional()
      .describe('Re-authenticate the signed-in member: the provider has to ask again (`max_age=0`).'),
  }),
});

export const endOidc = accessEndpoint('GET /api/session/oidc/callback', 'anyone', {
  summary: 'Return from the identity provider',
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

/** What the browser returns after the device has signed, in the JSON form of the browser's API. */
const deviceAnswer = z.record(z.string(), z.unknown());

/** The schema of options that a library makes for a passkey's device; they are sent unchanged. */
const optionsOf = <Options extends object>() =>
  z.custom<Options>((value) => typeof value === 'object' && value !== null).meta({ type: 'object' });

const signingOptions = optionsOf<PublicKeyCredentialRequestOptionsJSON>();

export const beginSignIn = accessEndpoint('POST /api/session/passkey/options', 'anyone', {
  summary: 'Start signing in with a passkey',
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
  summary: 'Start adding a passkey',
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
  summary: 'Rename one of your passkeys',
  body: z.object({ name: passkeyName }),
});

export const removePasskey = accessEndpoint('DELETE /api/me/passkeys/:id', 'member', {
  summary: 'Remove one of your passkeys',
  proof: true,
});

export const byPassword = meEndpoint('POST /api/me/proof', 'member', {
  summary: 'Re-authenticate with your password: valid for five minutes; the session gets a new cookie',
  body: z.strictObject({ password }),
  answer: session,
});

export const beginPasskey = meEndpoint('POST /api/me/proof/passkey/options', 'member', {
  summary: 'Start re-authenticating with a passkey',
  answer: signingOptions,
});

export const byPasskey = meEndpoint('POST /api/me/proof/passkey', 'member', {
  summary: 'Re-authenticate with a passkey: valid for five minutes; the session gets a new cookie',
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

/** The body of a reset; no body is the same as an empty object. */
const reset = z
  .strictObject({
    keep: z.array(z.enum(memberMeans)).optional().describe('What stays valid; by default nothing does.'),
  })
  .optional();

export const madeLink = z.object({
  /** To be given to the person; it cannot be shown again. */
  link: z.string(),
  expiresAt: instant,
});

export const listMembers = membersEndpoint('GET /api/members', 'viewer', {
  summary: 'List members and open invitations',
  answer: z.object({
    items: z.array(member),
    /** Open invitations. Their links are only shown once, when they are created. */
    invitations: z.array(invitation),
  }),
});

export const inviteMember = membersEndpoint('POST /api/members', 'owner', {
  summary: 'Invite a person: the response is a link to pass on',
  proof: true,
  body: z.strictObject({ email, role }),
  answer: madeLink,
  status: 201,
  once: true,
});

export const withdrawInvitation = membersEndpoint('DELETE /api/invitations/:id', 'owner', {
  summary: 'Withdraw an invitation and its link',
});

export const changeMember = membersEndpoint('PATCH /api/members/:id', 'owner', {
  summary: "Change a member's role or name, or disable the member",
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
  summary: 'Create a link with which a member sets a new password; tokens and passkeys end unless kept',
  proof: true,
  body: reset,
  answer: madeLink,
  status: 201,
  once: true,
});

export const ownSession = z.object({
  id: z.string(),
  /** True for the session that makes this request. */
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
  summary: 'Set a new password: all other sessions end, and this one gets a new cookie',
  body: z.strictObject({
    /** The present password; absent where the member has none yet. */
    current: password.optional(),
    next: password,
  }),
  answer: session,
});

export const listOwnSessions = meEndpoint('GET /api/me/sessions', 'member', {
  summary: 'List your sessions',
  answer: z.object({ items: z.array(ownSession) }),
});

export const endOwnSession = meEndpoint('DELETE /api/me/sessions/:id', 'member', {
  summary: 'End one of your other sessions',
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
  /** The token itself; it cannot be shown again. */
  secret: z.string(),
});

export const listTokens = tokensEndpoint('GET /api/tokens', 'member', {
  summary: 'List your API tokens; as an owner, those of all members',
  answer: z.object({ items: z.array(apiToken) }),
});

// A token must not create tokens that outlive it.
export const createToken = tokensEndpoint('POST /api/tokens', 'member', {
  summary: 'Create an API token: its secret is only in this response',
  proof: true,
  body: z.strictObject({
    name,
    role,
    expiresAt: instant.nullable().optional().describe('Omitted or null: valid until revoked.'),
  }),
  answer: madeApiToken,
  status: 201,
  once: true,
});

export const revokeToken = tokensEndpoint('DELETE /api/tokens/:id', 'member', {
  summary: 'Revoke an API token permanently',
});
