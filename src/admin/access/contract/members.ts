/** Members, and those who are invited to be. */

import * as z from 'zod';
import { memberMeans } from '../../../core/store/members.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { idParam, instant } from '../../shapes/common.ts';
import { email, name } from './fields.ts';
import { member, role } from './session.ts';

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
