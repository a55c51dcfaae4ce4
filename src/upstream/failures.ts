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

/** Errors of connections that had served before, and were closed before a byte of the next answer came. */
const staleErrors = new WeakSet<Error>();

export function markStale(error: Error): void {
  staleErrors.add(error);
}

/**
 * Most often the upstream closed an idle connection while the call was on its way, and never read it. Not always: it may
 * have read it and stopped.
 */
export function isStaleConnection(error: unknown): boolean {
  return error instanceof Error && staleErrors.has(error);
}

export function toFailure(error: unknown, started: boolean): Failure {
  const code = error instanceof Error && 'code' in error && error.code !== undefined ? String(error.code) : '';
  const cause =
    error instanceof Error ? `${error.name}${code === '' ? '' : ` ${code}`}: ${toMessage(error)}` : String(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return { ...connectTimeout, cause };
  if (isNotHttp(error, code)) return { ...notHttp, cause };
  return { ...(started ? closedEarly : unreachable), cause };
}

function isNotHttp(error: unknown, code: string): boolean {
  // The parser's errors have no code where its own table does not know theirs.
  if (error instanceof errors.HTTPParserError || protocolErrors.has(code)) return true;
  return error instanceof errors.SocketError && protocolMessages.has(error.message);
}

/** Of several addresses that were tried each has its error, and the whole says nothing. */
function toMessage(error: Error): string {
  if (!(error instanceof AggregateError) || error.message !== '') return error.message;
  return error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join(', ');
}
