/** API tokens: made, listed, revoked. */

import * as z from 'zod';
import { defineEndpoint } from '../../endpoint.ts';
import { idParam, instant } from '../../shapes/common.ts';
import { name } from './fields.ts';
import { role } from './session.ts';

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
