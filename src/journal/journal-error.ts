/** Describes a failure of the journal: one sentence for the operator, and an error response for clients. */

import { GatewayError } from '../core/errors.ts';
import { codeOf, reasonOf } from '../lib/thrown.ts';

export class JournalError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'JournalError';
  }
}

/** The error for clients, which reveals nothing of the machine. */
export function journalUnavailable(cause?: unknown): GatewayError {
  return new GatewayError('store_unavailable', {
    message: "The gateway's journal cannot be written just now; try again after the time in Retry-After.",
    headers: ['Retry-After', '1'],
    cause,
  });
}

/** The operating system's error name, such as ENOSPC, or else the message. */
export const codeOrReasonOf = (thrown: unknown): string => codeOf(thrown) ?? reasonOf(thrown);

/** Adds the directory and advice to a permanent fault of the set-up. */
export function toJournalError(thrown: unknown, directory: string): unknown {
  if (thrown instanceof JournalError || !(thrown instanceof Error) || !('syscall' in thrown)) return thrown;
  const journal = `The journal directory "${directory}"`;
  switch (codeOrReasonOf(thrown)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new JournalError(
        `${journal} cannot be written; give the user Postern runs as write access to it, or point ledger.journal elsewhere.`,
        thrown,
      );
    case 'ENOTDIR':
    case 'EEXIST':
      return new JournalError(
        `${journal} lies under something that is no directory; point ledger.journal elsewhere.`,
        thrown,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return new JournalError(`${journal} cannot be made because the disk is full; make room.`, thrown);
    default:
      return new JournalError(
        `${journal} cannot be used (${codeOrReasonOf(thrown)}); check its path and its disk.`,
        thrown,
      );
  }
}
