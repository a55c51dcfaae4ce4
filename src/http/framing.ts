/** Makes the error responses for requests that cannot be parsed, and so reach no route. */

import { type ErrorCode, GatewayError } from '../core/errors.ts';
import type { WireFault } from '../wire/fault.ts';

export function toRefusal({ kind, message }: WireFault): GatewayError {
  switch (kind) {
    case 'malformed':
      return withMore('malformed_request', message);
    case 'ambiguous':
      return new GatewayError('malformed_request', { message });
    case 'too-large':
      return withMore('headers_too_large', `${message} (server.max_header_size)`);
    case 'too-slow':
      return new GatewayError('request_timeout');
  }
}

function withMore(code: ErrorCode, more: string): GatewayError {
  return new GatewayError(code, { message: `${new GatewayError(code).message} ${more}` });
}
