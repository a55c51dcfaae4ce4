/** Checks an error response of the gateway against the documented error shape. */

import assert from 'node:assert/strict';
import type { ErrorCode } from '../../../src/core/errors.ts';
import type { RawResponse } from './raw-client.ts';

/** Written out once more, so that a slip in the table of the gateway shows. */
const contract: Readonly<Record<ErrorCode, readonly [status: number, type: string]>> = {
  invalid_multipart: [400, 'invalid_request_error'],
  invalid_json: [400, 'invalid_request_error'],
  missing_required_parameter: [400, 'invalid_request_error'],
  invalid_type: [400, 'invalid_request_error'],
  duplicate_parameter: [400, 'invalid_request_error'],
  body_too_deep: [400, 'invalid_request_error'],
  operation_not_supported: [400, 'invalid_request_error'],
  unsupported_parameter: [400, 'invalid_request_error'],
  malformed_request: [400, 'invalid_request_error'],
  missing_api_key: [401, 'authentication_error'],
  invalid_api_key: [401, 'authentication_error'],
  expired_api_key: [401, 'authentication_error'],
  revoked_api_key: [401, 'authentication_error'],
  model_not_allowed: [403, 'permission_error'],
  route_not_allowed: [403, 'permission_error'],
  ip_not_allowed: [403, 'permission_error'],
  model_not_found: [404, 'invalid_request_error'],
  route_not_found: [404, 'invalid_request_error'],
  method_not_allowed: [405, 'invalid_request_error'],
  request_timeout: [408, 'invalid_request_error'],
  body_too_large: [413, 'invalid_request_error'],
  unsupported_media_type: [415, 'invalid_request_error'],
  unsupported_encoding: [415, 'invalid_request_error'],
  headers_too_large: [431, 'invalid_request_error'],
  rate_limit_exceeded: [429, 'rate_limit_error'],
  object_not_found: [404, 'invalid_request_error'],
  budget_exceeded: [429, 'insufficient_quota'],
  client_closed: [499, 'invalid_request_error'],
  internal_error: [500, 'server_error'],
  upstream_unreachable: [502, 'upstream_error'],
  upstream_protocol_error: [502, 'upstream_error'],
  store_unavailable: [503, 'server_error'],
  no_upstream_available: [503, 'upstream_error'],
  overloaded: [503, 'upstream_error'],
  upstream_timeout: [504, 'upstream_error'],
};

export interface ExpectedError {
  /** `null` where no field is at fault. */
  readonly param?: string | null;
  readonly message?: RegExp;
  /** For a client of another service: the field where it reads the message. */
  readonly beside?: 'detail' | 'message';
  /** Said with a failure: what was sent. */
  readonly of?: string;
}

export function assertError(
  answer: RawResponse,
  code: ErrorCode,
  { param = null, message, beside, of = '' }: ExpectedError = {},
): void {
  const [status, type] = contract[code];
  const shown = `${of} ${answer.statusLine} ${answer.body.toString().slice(0, 500)}`.trim();
  assert.equal(answer.status, status, shown);
  assert.equal(answer.complete, true, shown);
  assert.equal(answer.header('content-type'), 'application/json', shown);
  assert.equal(answer.header('content-length'), String(answer.body.length), shown);
  assert.match(answer.header('x-request-id') ?? '', /^[A-Za-z0-9._-]{1,128}$/, shown);

  const parsed = answer.json();
  const said = messageOf(parsed);
  const besides = beside === undefined ? {} : { [beside]: said };
  assert.deepEqual(parsed, { error: { message: said, type, param, code }, ...besides }, shown);
  assert.match(said, /^[A-Z].{15,}[.)]$/s, shown);
  if (message !== undefined) assert.match(said, message, shown);

  assert.equal(answer.header('www-authenticate'), status === 401 ? 'Bearer' : undefined, shown);
  assert.equal(answer.header('allow') !== undefined, status === 405, shown);
  // What never passes as it is has no time to wait for.
  if (status !== 429) assert.equal(answer.header('retry-after') !== undefined, status === 503, shown);
}

function messageOf(parsed: unknown): string {
  if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return '';
  const { error } = parsed;
  if (typeof error !== 'object' || error === null || !('message' in error)) return '';
  return typeof error.message === 'string' ? error.message : '';
}
