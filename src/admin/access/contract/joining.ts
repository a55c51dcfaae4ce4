/** Joining by a link: the set-up, an invitation, another password. */

import * as z from 'zod';
import { invitationKinds } from '../../../core/store/members.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { instant } from '../../shapes/common.ts';
import { email, linkToken, name, password } from './fields.ts';
import { role, session } from './session.ts';

const setUp = z.strictObject({ token: linkToken, email, name, password });

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
  body: setUp,
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
