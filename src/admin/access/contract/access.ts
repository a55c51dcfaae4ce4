/** What is sent to get in and to let others in, and what comes back of it. */

import * as z from 'zod';
import { invitationKinds, memberMeans, sessionMethods } from '../../../core/member.ts';
import { instant } from '../../shapes/common.ts';
import { member, role } from './session.ts';

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

/** Longer than any that is accepted, and short enough that nobody has us work through a book. */
const password = z.string().max(1_000, 'Use at most 200 characters.');
const linkToken = z.string().min(1).max(200).meta({ description: 'What stands behind `#token=` in the link.' });

export const signIn = z.strictObject({ email: z.string().max(254), password });

export const setUp = z.strictObject({ token: linkToken, email, name, password });

export const lookUp = z.strictObject({ token: linkToken });

export const lookedUp = z.object({
  kind: z.enum(invitationKinds),
  /** Null for the set-up, where the first owner says it. */
  email: z.string().nullable(),
  /** Known for a reset only. */
  name: z.string().nullable(),
  role,
  expiresAt: instant,
});

export const acceptance = z.strictObject({
  token: linkToken,
  /** Not needed where the link is for another password. */
  name: name.optional(),
  password,
});

export const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role,
  invitedBy: z.string(),
  createdAt: instant,
  expiresAt: instant,
});

export const members = z.object({
  items: z.array(member),
  /** Those whom nobody has heard from yet; the links themselves are shown once, when they are made. */
  invitations: z.array(invitation),
});

export const newInvitation = z.strictObject({ email, role });

/** Nothing at all is the same as an empty object. */
export const reset = z
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

export const memberChange = z.strictObject({
  role: role.optional(),
  name: name.optional(),
  disabled: z.boolean().optional(),
});

export const ownChange = z.strictObject({ name });

export const passwordProof = z.strictObject({ password });

export const passwordChange = z.strictObject({
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

export const ownSessions = z.object({ items: z.array(ownSession) });

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

export const apiTokens = z.object({ items: z.array(apiToken) });

export const newApiToken = z.strictObject({
  name,
  role,
  expiresAt: instant.nullable().optional().meta({ description: 'Left out or null: it holds until it is revoked.' }),
});

export const madeApiToken = z.object({
  token: apiToken,
  /** Shown only now. */
  secret: z.string(),
});
