/** Lists every error that Postern answers with, one row each: status, type and advice. */

import { withMasks } from '../lib/secrets/secret-shapes.ts';

export interface ErrorRow {
  readonly status: number;
  readonly type: string;
  /** What is wrong and what to do, used where the code that throws the error has no more exact text. */
  readonly message: string;
}

const rowOf =
  (type: string) =>
  (status: number, message: string): ErrorRow => ({ status, type, message });
const invalid = rowOf('invalid_request_error');
const unknown = rowOf('authentication_error');
const forbidden = rowOf('permission_error');
const ours = rowOf('server_error');
const upstream = rowOf('upstream_error');

const table = {
  invalid_json: invalid(400, 'The body is not valid JSON; send one JSON object.'),
  missing_required_parameter: invalid(400, 'A required field is missing; add it.'),
  invalid_type: invalid(400, 'A field has a value of the wrong kind; change it.'),
  duplicate_parameter: invalid(400, 'A field stands twice in the body; keep one.'),
  body_too_deep: invalid(400, 'The body is nested deeper than 64 levels; flatten it.'),
  operation_not_supported: invalid(400, 'The model does not serve this operation; pick another model.'),
  unsupported_parameter: invalid(400, 'A parameter cannot be served by the upstream of this model; leave it out.'),
  malformed_request: invalid(400, 'The request is not well-formed HTTP; fix the client.'),
  missing_api_key: unknown(
    401,
    'No API key came with the request; send it as "Authorization: Bearer <key>" (or in x-api-key, api-key or x-goog-api-key).',
  ),
  invalid_api_key: unknown(401, 'This API key is not known here; check it, or ask the operator for a new one.'),
  expired_api_key: unknown(401, 'This API key has expired; ask the operator for a new one.'),
  revoked_api_key: unknown(401, 'This API key was revoked; ask the operator for a new one.'),
  model_not_allowed: forbidden(403, 'This API key may not use the model; GET /v1/models lists the allowed ones.'),
  route_not_allowed: forbidden(403, 'This API key may not use this route; ask the operator to allow it.'),
  ip_not_allowed: forbidden(403, 'This API key may not be used from your address; ask the operator to allow it.'),
  model_not_found: invalid(404, 'The model does not exist; GET /v1/models lists the available ones.'),
  route_not_found: invalid(404, 'No route has this path.'),
  method_not_allowed: invalid(405, 'This route does not allow the method; see the Allow header.'),
  request_timeout: invalid(
    408,
    'The request arrived too slowly for server.timeouts; send it faster or in smaller requests.',
  ),
  body_too_large: invalid(413, 'The body is over the limit; send it in smaller requests.'),
  invalid_multipart: invalid(
    400,
    'The body is not valid multipart/form-data; send it with a boundary, and each part with a name.',
  ),
  unsupported_media_type: invalid(415, 'Send the body as "Content-Type: application/json".'),
  unsupported_encoding: invalid(415, 'Send the body plain, or with Content-Encoding gzip, br, deflate or zstd.'),
  headers_too_large: invalid(431, 'The request headers are over the limit; send fewer or shorter ones.'),
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    message: 'A limit of this API key is reached; try again after the time in Retry-After.',
  },
  object_not_found: invalid(404, 'The request names an unknown object; send its content instead.'),
  budget_exceeded: {
    status: 429,
    type: 'insufficient_quota',
    message: 'A budget of this API key is spent; ask the operator for more.',
  },
  client_closed: invalid(499, 'The client closed the connection before the answer was complete.'),
  internal_error: ours(500, 'Something went wrong inside the gateway; tell the operator the request ID.'),
  upstream_unreachable: upstream(502, 'The upstream could not be reached; try again later.'),
  upstream_protocol_error: upstream(
    502,
    'The upstream gave no usable response; try again, and inform the operator if it persists.',
  ),
  store_unavailable: ours(503, 'The store of the gateway is unavailable; try again in a moment.'),
  no_upstream_available: upstream(
    503,
    'No upstream of this model is available at the moment; try again after the time in Retry-After.',
  ),
  overloaded: upstream(503, 'The gateway is overloaded; try again after the time in Retry-After.'),
  upstream_timeout: upstream(504, 'The upstream took too long; try again later.'),
} satisfies Record<string, ErrorRow>;

/** Codes of upstream errors that get the gateway's words. Denied: the operator's credential or account; refused: the request, whose status stays. */
export const upstreamCodes = ['upstream_denied', 'upstream_refused', 'upstream_failed'] as const;

export type UpstreamCode = (typeof upstreamCodes)[number] | 'rate_limit_exceeded' | 'upstream_timeout';

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
  /** Replaces the message of the error's row: the field, the value, what is expected. Never a secret, never a whole body. */
  readonly message?: string;
  readonly param?: string;
  /** Further response headers, names and values in turn. */
  readonly headers?: readonly string[];
  /** The underlying error, for the log only. */
  readonly cause?: unknown;
  /** The code in ledger and log, where the client gets another one. */
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
