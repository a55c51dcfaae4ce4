/** The description of the API itself. */

import * as z from 'zod';
import { type AnyEndpoint, defineEndpoint } from '../endpoint.ts';
import { toAdminDocument } from './openapi.ts';

/** It describes itself as well, and so it is told of all when they are known. */
export function describing(all: () => readonly AnyEndpoint[]): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'Describe this API as OpenAPI 3.1',
    tag: 'About',
    needs: 'viewer',
    answer: z.record(z.string(), z.unknown()),
    run: ({ context }) => toAdminDocument(all(), context.version),
  });
}
