/** Members and those who are invited, what members change about themselves, and API tokens. */

import * as z from 'zod';
import { memberMeans, sessionMethods } from '../../../core/store/members.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { idParam, instant } from '../../shapes/common.ts';
import { email, member, name, password, role, session } from './session.ts';

export const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role,
  invitedBy: z.string(),
  createdAt: instant,
  expiresAt: instant,
});

const members = z.object({
  items: z.array(member),
  /** Those whom nobody has heard from yet; the links themselves are shown once, when they are made. */
  invitations: z.array(invitation),
});

const newInvitation = z.strictObject({ email, role });

/** Nothing at all is the same as an empty object. */
const reset = z
  .strictObject({
    keep: z
      .array(z.enum(memberMeans))
      .optional()
      .meta({ description: 'What goes on working; all of it ends where nothing is said.' }),
  })
  .optional();

export const madeLink = z.object({
  /** To be handed to the person; it is shown only now. */
  link: z.string(),
  expiresAt: instant,
});

const memberChange = z.strictObject({
  role: role.optional(),
  name: name.optional(),
  disabled: z.boolean().optional(),
});

export const listMembers = defineEndpoint({
  method: 'GET',
  path: '/api/members',
  summary: 'List members, and the invitations that are open',
  tag: 'Members',
  needs: 'viewer',
  answer: members,
});

export const inviteMember = defineEndpoint({
  method: 'POST',
  path: '/api/members',
  summary: 'Invite somebody: the answer is a link to hand over',
  tag: 'Members',
  needs: 'owner',
  proof: true,
  body: newInvitation,
  answer: madeLink,
  status: 201,
  once: true,
});

export const withdrawInvitation = defineEndpoint({
  method: 'DELETE',
  path: '/api/invitations/:id',
  summary: 'Withdraw an invitation: its link works no more',
  tag: 'Members',
  needs: 'owner',
  params: idParam,
});

export const changeMember = defineEndpoint({
  method: 'PATCH',
  path: '/api/members/:id',
  summary: "Change a member's role or name, or keep the member from signing in",
  tag: 'Members',
  needs: 'owner',
  proof: true,
  params: idParam,
  body: memberChange,
  answer: member,
});

export const removeMember = defineEndpoint({
  method: 'DELETE',
  path: '/api/members/:id',
  summary: 'Remove a member, with its sessions, tokens and passkeys',
  tag: 'Members',
  needs: 'owner',
  proof: true,
  params: idParam,
});

export const resetMember = defineEndpoint({
  method: 'POST',
  path: '/api/members/:id/reset',
  summary: 'Make a link with which a member sets another password; tokens and passkeys that are not kept end',
  tag: 'Members',
  needs: 'owner',
  proof: true,
  params: idParam,
  body: reset,
  answer: madeLink,
  status: 201,
  once: true,
});

const ownChange = z.strictObject({ name });

const passwordChange = z.strictObject({
  /** Left out by who has none yet. */
  current: password.optional(),
  next: password,
});

export const ownSession = z.object({
  id: z.string(),
  /** The one that asks. */
  current: z.boolean(),
  method: z.enum(sessionMethods),
  address: z.string(),
  userAgent: z.string(),
  createdAt: instant,
  lastSeenAt: instant,
  expiresAt: instant,
});

const ownSessions = z.object({ items: z.array(ownSession) });

export const changeMe = defineEndpoint({
  method: 'PATCH',
  path: '/api/me',
  summary: 'Change your name',
  tag: 'Me',
  needs: 'member',
  body: ownChange,
  answer: member,
});

export const changePassword = defineEndpoint({
  method: 'POST',
  path: '/api/me/password',
  summary: 'Set another password: every other session ends, and this one gets a new cookie',
  tag: 'Me',
  needs: 'member',
  body: passwordChange,
  answer: session,
});

export const listOwnSessions = defineEndpoint({
  method: 'GET',
  path: '/api/me/sessions',
  summary: 'List where you are signed in',
  tag: 'Me',
  needs: 'member',
  answer: ownSessions,
});

export const endOwnSession = defineEndpoint({
  method: 'DELETE',
  path: '/api/me/sessions/:id',
  summary: 'Sign out somewhere else',
  tag: 'Me',
  needs: 'member',
  params: idParam,
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

const apiTokens = z.object({ items: z.array(apiToken) });

const newApiToken = z.strictObject({
  name,
  role,
  expiresAt: instant.nullable().optional().meta({ description: 'Left out or null: it holds until it is revoked.' }),
});

export const madeApiToken = z.object({
  token: apiToken,
  /** Shown only now. */
  secret: z.string(),
});

export const listTokens = defineEndpoint({
  method: 'GET',
  path: '/api/tokens',
  summary: "List your API tokens, or everybody's where you are an owner",
  tag: 'Tokens',
  needs: 'member',
  answer: apiTokens,
});

export const createToken = defineEndpoint({
  method: 'POST',
  path: '/api/tokens',
  summary: 'Make an API token: its secret is shown only in the answer',
  tag: 'Tokens',
  // No program makes itself another token that outlives its own.
  needs: 'member',
  proof: true,
  body: newApiToken,
  answer: madeApiToken,
  status: 201,
  once: true,
});

export const revokeToken = defineEndpoint({
  method: 'DELETE',
  path: '/api/tokens/:id',
  summary: 'Revoke an API token, for good',
  tag: 'Tokens',
  needs: 'member',
  params: idParam,
});
