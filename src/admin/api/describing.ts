/** The description of the API itself, beside the endpoints that it describes. */

import * as z from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { type Implemented, implement } from '../implement.ts';
import { toAdminDocument } from './openapi.ts';

const describe = defineEndpoint({
  method: 'GET',
  path: '/api/openapi.json',
  summary: 'Describe this API as OpenAPI 3.1',
  tag: 'About',
  needs: 'viewer',
  answer: z.record(z.string(), z.unknown()),
});

/** It stands in the description as well. */
export function withDescription(others: readonly Implemented[]): readonly Implemented[] {
  const all: readonly Implemented[] = [
    ...others,
    implement(describe, ({ context }) => toAdminDocument(all, context.version)),
  ];
  return all;
}
