/** Signing in by way of the identity provider: there, and back. */

import * as z from 'zod';
import { defineEndpoint } from '../../endpoint.ts';

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
