/** Maps connection errors to errors for the client. */

import type { Failure } from '../core/outcome.ts';
import { reasonOf } from '../lib/thrown.ts';
import { BadAnswerError, BrokenConnectionError, ConnectTimeoutError } from '../wire/client-errors.ts';

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

const addressNotAllowed = 'ERR_ADDRESS_NOT_ALLOWED';

/** Whether the connection broke before an answer: usually the upstream closed an idle connection and never read the call, but it may have. */
export function isStaleConnection(error: unknown): boolean {
  return error instanceof BrokenConnectionError && error.stale;
}

export function toFailure(error: unknown, started: boolean): Failure {
  const code = error instanceof Error && 'code' in error && error.code !== undefined ? String(error.code) : '';
  const cause =
    error instanceof Error ? `${error.name}${code === '' ? '' : ` ${code}`}: ${reasonOf(error)}` : String(error);
  if (error instanceof ConnectTimeoutError) return { ...connectTimeout, cause };
  if (error instanceof BadAnswerError) {
    const message = `The upstream's answer is not valid HTTP/1.1; tell the operator: ${error.message}`;
    return { code: 'upstream_protocol_error', message, cause };
  }
  if (code === addressNotAllowed) return { ...unreachable, cause, isLasting: true };
  return { ...(started ? closedEarly : unreachable), cause };
}
