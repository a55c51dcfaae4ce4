/** The description of the API itself, beside the endpoints that it describes. */

import * as z from 'zod';
import { inTurns } from '../../lib/turns.ts';
import { defineEndpoint } from '../endpoint.ts';
import { type Implemented, implement } from '../implement.ts';
import { describing } from './openapi.ts';

const describe = defineEndpoint({
  method: 'GET',
  path: '/api/openapi.json',
  summary: 'Describe this API as OpenAPI 3.1',
  tag: 'About',
  needs: 'viewer',
  answer: z.record(z.string(), z.unknown()),
});

/** It stands in the description as well. The text is made once: it is the same for everybody. */
export function withDescription(others: readonly Implemented[]): readonly Implemented[] {
  let text: Promise<string> | undefined;
  const all: readonly Implemented[] = [
    ...others,
    implement(describe, async ({ context }) => {
      text ??= inTurns(describing(all, context.version)).then((document) => JSON.stringify(document));
      return new Response(await text, { headers: { 'content-type': 'application/json' } });
    }),
  ];
  return all;
}
