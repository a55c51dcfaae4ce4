/** Every error that Postern answers with, one row each: status, type and advice. */

import { withMasks } from '../lib/secrets/secret-shapes.ts';

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  /** What happened and what to do next, where the place that throws it has nothing more exact to say. */
  readonly message: string;
}

const table = {
  invalid_json: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The body is not valid JSON; send one JSON object.',
  },
  missing_required_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A required field is missing; add it.',
  },
  invalid_type: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A field has a value of the wrong kind; change it.',
  },
  duplicate_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A field stands twice in the body; keep one.',
  },
  body_too_deep: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The body is nested deeper than 64 levels; flatten it.',
  },
  operation_not_supported: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The model does not serve this operation; pick another model.',
  },
  unsupported_parameter: {
    status: 400,
    type: 'invalid_request_error',
    message: 'A parameter cannot be served by the upstream of this model; leave it out.',
  },
  malformed_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request is not well-formed HTTP; mend the client.',
  },
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    message:
      'No API key came with the request; send it as "Authorization: Bearer <key>" (or in x-api-key, api-key or x-goog-api-key).',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key is not known here; check it, or ask the operator for a new one.',
  },
  expired_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key has expired; ask the operator for a new one.',
  },
  revoked_api_key: {
    status: 401,
    type: 'authentication_error',
    message: 'This API key was revoked; ask the operator for a new one.',
  },
  model_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This API key may not use the model; GET /v1/models lists what it may use.',
  },
  route_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This API key may not use this route; ask the operator to allow it.',
  },
  ip_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This API key may not be used from your address; ask the operator to allow it.',
  },
  model_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'The model does not exist; GET /v1/models lists what does.',
  },
  route_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'No route has this path.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'This route does not take that method; see the Allow header.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The request came more slowly than server.timeouts allows; send it faster or in smaller requests.',
  },
  body_too_large: {
    status: 413,
    type: 'invalid_request_error',
    message: 'The body is over the limit; send it in smaller requests.',
  },
  invalid_multipart: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The body is no multipart/form-data that could be read; send it with a boundary, and each part with a name.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    message: 'Send the body as "Content-Type: application/json".',
  },
  unsupported_encoding: {
    status: 415,
    type: 'invalid_request_error',
    message: 'Send the body plain, or with Content-Encoding gzip, br, deflate or zstd.',
  },
  headers_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The request headers are over the limit; send fewer or shorter ones.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'A limit of this API key is reached; try again after the time in Retry-After.',
  },
  object_not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'The request names something that is not known here; send its content instead.',
  },
  budget_exceeded: {
    status: 429,
    type: 'insufficient_quota',
    message: 'A budget of this API key is spent; ask the operator for more.',
  },
  client_closed: {
    status: 499,
    type: 'invalid_request_error',
    message: 'The client closed the connection before the answer was complete.',
  },
  internal_error: {
    status: 500,
    type: 'server_error',
    message: 'Something went wrong inside the gateway; tell the operator the request ID.',
  },
  upstream_unreachable: {
    status: 502,
    type: 'upstream_error',
    message: 'The upstream could not be reached; try again later.',
  },
  upstream_protocol_error: {
    status: 502,
    type: 'upstream_error',
    message: 'The upstream sent nothing usable; try again, and tell the operator if it stays so.',
  },
  store_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'What the gateway must look up or write down cannot be just now; try again in a moment.',
  },
  no_upstream_available: {
    status: 503,
    type: 'upstream_error',
    message: 'No upstream of this model can be asked just now; try again after the time in Retry-After.',
  },
  overloaded: {
    status: 503,
    type: 'upstream_error',
    message: 'There is more to do than can be done just now; try again after the time in Retry-After.',
  },
  upstream_timeout: { status: 504, type: 'upstream_error', message: 'The upstream took too long; try again later.' },
} as const satisfies Record<string, ErrorRow>;

/**
 * What an upstream's error is called where it is put into our words, beside codes that we have anyway. Denied is the operator's
 * credential or account, refused the request; its status stays.
 */
export const upstreamCodes = ['upstream_denied', 'upstream_refused', 'upstream_failed'] as const;

export type UpstreamCode = (typeof upstreamCodes)[number] | 'rate_limit_exceeded' | 'upstream_timeout';

/** The words of ours that go with a status of an upstream's. */
export function upstreamError(status: number): { readonly type: string; readonly code: UpstreamCode } {
  if (status === 401) return { type: 'authentication_error', code: 'upstream_denied' };
  if (status === 402) return { type: 'invalid_request_error', code: 'upstream_denied' };
  if (status === 403) return { type: 'permission_error', code: 'upstream_denied' };
  if (status === 429) return { type: 'rate_limit_error', code: 'rate_limit_exceeded' };
  if (status < 500) return { type: 'invalid_request_error', code: 'upstream_refused' };
  return { type: 'upstream_error', code: status === 504 ? 'upstream_timeout' : 'upstream_failed' };
}

export type ErrorCode = keyof typeof table;

export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = table;

export interface ErrorDetails {
  /** Replaces the row's message: the field, what came, what is wanted. Never a secret, never a whole body. */
  readonly message?: string;
  readonly param?: string;
  /** Further response headers, names and values in turn. */
  readonly headers?: readonly string[];
  /** For the log only. */
  readonly cause?: unknown;
  /** What ledger and log call it, where the client is not to know. */
  readonly recordedAs?: ErrorCode;
}

export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly headers: readonly string[];
  readonly recordedAs: ErrorCode;

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    const row = errorTable[code];
    super(
      details.message === undefined ? row.message : withMasks(details.message),
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    this.name = 'GatewayError';
    this.code = code;
    this.status = row.status;
    this.type = row.type;
    this.param = details.param ?? null;
    this.headers = details.headers ?? [];
    this.recordedAs = details.recordedAs ?? code;
  }
}
