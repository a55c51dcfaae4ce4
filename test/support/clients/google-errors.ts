/** Errors in google.rpc.Status format. */

import * as z from 'zod';
import type { RawResponse } from './raw-client.ts';

const status = z.object({
  error: z.object({
    code: z.int(),
    message: z.string(),
    status: z.string(),
    details: z.array(z.looseObject({ metadata: z.record(z.string(), z.string()).optional() })),
  }),
});

export const errorIn = (response: RawResponse) => status.parse(JSON.parse(response.body.toString())).error;
