/** Defines the errors of the admin API: problem details (RFC 9457) with the faulty field and what to do next. */

import * as z from 'zod';
import type { FieldFault } from '../core/field-fault.ts';

interface Row {
  readonly status: number;
  readonly title: string;
}

/** The kinds of problems, one row each; the code that throws one sets `detail`. */
export const problemTable = {
  malformed_request: { status: 400, title: 'The request cannot be read' },
  invalid_fields: { status: 422, title: 'Some fields are invalid' },
  sign_in_needed: { status: 401, title: 'Sign in first' },
  sign_in_failed: { status: 401, title: 'The sign-in did not succeed' },
  not_allowed: { status: 403, title: 'Your role does not allow this' },
  proof_needed: { status: 403, title: 'Re-authentication is required' },
  forged_request: { status: 403, title: 'The request does not come from the console' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'This path does not allow the method' },
  managed_by_file: { status: 409, title: 'The configuration file declares it' },
  changed_meanwhile: { status: 412, title: 'It was changed in the meantime' },
  version_needed: { status: 428, title: 'If-Match or If-None-Match is required' },
  has_ended: { status: 409, title: 'It has ended' },
  in_use: { status: 409, title: 'It is still in use' },
  last_owner: { status: 409, title: 'There must be an owner' },
  already_there: { status: 409, title: 'It is there already' },
  key_used_before: { status: 422, title: 'The Idempotency-Key was used for something else' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'Send JSON' },
  too_many_attempts: { status: 429, title: 'Too many attempts' },
  too_many_streams: { status: 429, title: 'Too many live views are open' },
  internal_error: { status: 500, title: 'Internal error' },
  upstream_failed: { status: 502, title: 'The upstream gave no usable response' },
  store_unavailable: { status: 503, title: 'The store does not answer' },
} as const satisfies Record<string, Row>;

export type ProblemCode = keyof typeof problemTable;

export const problemBody = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  detail: z.string().describe('What happened, and what to do next.'),
  code: z.enum(Object.keys(problemTable) as ProblemCode[]),
  fields: z.array(
    z.object({
      path: z.string().describe('Path in the document, such as `targets[0].upstream`.'),
      message: z.string(),
    }),
  ),
});

export interface ProblemFacts {
  /** What is wrong and what to do next. Never contains a secret. */
  readonly detail: string;
  readonly fields?: readonly FieldFault[];
  readonly headers?: Readonly<Record<string, string>>;
}

export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly fields: readonly FieldFault[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, { detail, fields = [], headers = {} }: ProblemFacts) {
    super(detail);
    this.name = 'Problem';
    this.code = code;
    this.status = problemTable[code].status;
    this.fields = fields;
    this.headers = headers;
  }

  body() {
    const { title, status } = problemTable[this.code];
    return { type: 'about:blank', title, status, detail: this.message, code: this.code, fields: this.fields };
  }
}

/** The error for one invalid field, with a message for the whole response. */
export const invalidField = (path: string, message: string): Problem =>
  new Problem('invalid_fields', { detail: message, fields: [{ path, message }] });

/** The error for one invalid field, with a message that stands only at the field. */
export const lookAtField = (path: string, message: string): Problem =>
  new Problem('invalid_fields', { detail: `Look at ${path}.`, fields: [{ path, message }] });
