/** Contract: members, invitations, a member's own settings, and API tokens. */

import * as z from 'zod';
import { memberMeans, sessionMethods } from '../../../core/store/members.ts';
import { endpointsOf } from '../../endpoint.ts';
import { instant } from '../../shapes/common.ts';
import { email, member, name, password, role, session } from './session.ts';

const membersEndpoint = endpointsOf('Members');
const meEndpoint = endpointsOf('Me');
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
