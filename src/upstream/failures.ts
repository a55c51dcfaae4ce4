/** What a connection's error means for the client: which row of the error table, and what to say. */

import { errors } from 'undici';
import type { Failure } from '../core/outcome.ts';

const unreachable = {
  code: 'upstream_unreachable',
  message: 'The upstream could not be reached; try again later, and tell the operator if it stays so.',
} as const;

const closedEarly = {
  code: 'upstream_unreachable',
  message: 'The upstream closed the connection before it answered; try again later.',
} as const;

const connectTimeout = {
  code: 'upstream_timeout',
  message: 'No connection to the upstream came about in time (timeouts.connect); try again later.',
} as const;

export const notHttp = {
  code: 'upstream_protocol_error',
  message: 'The upstream sent something that is not HTTP; tell the operator.',
} as const;

const protocolErrors = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);
/** Where the library has no code of its own: a 101, and an answer to nothing. */
const protocolMessages = new Set(['bad upgrade', 'bad response']);

export function toFailure(error: unknown, started: boolean): Failure {
  const code = error instanceof Error && 'code' in error && error.code !== undefined ? String(error.code) : '';
  const cause =
    error instanceof Error ? `${error.name}${code === '' ? '' : ` ${code}`}: ${error.message}` : String(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return { ...connectTimeout, cause };
  if (isNotHttp(error, code)) return { ...notHttp, cause };
  return { ...(started ? closedEarly : unreachable), cause };
}

function isNotHttp(error: unknown, code: string): boolean {
  // The parser's errors have no code where its own table does not know theirs.
  if (error instanceof errors.HTTPParserError || protocolErrors.has(code)) return true;
  return error instanceof errors.SocketError && protocolMessages.has(error.message);
}
