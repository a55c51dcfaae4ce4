/** What members change about themselves, and where they are signed in. */

import * as z from 'zod';
import { sessionMethods } from '../../../core/store/members.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { idParam, instant } from '../../shapes/common.ts';
import { name, password } from './fields.ts';
import { member, session } from './session.ts';

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
