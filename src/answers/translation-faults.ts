/** Makes the failures for a response that cannot be translated, or a request that cannot be signed. */

import { type Failure, misfit } from '../core/outcome.ts';
import type { Unfit } from '../core/translation.ts';
import { reasonOf, traceOf } from '../lib/thrown.ts';

export const toFailure = ({ message }: Unfit): Failure => misfit(message);

export function cannotSign(error: unknown): Failure {
  return {
    code: 'upstream_unreachable',
    message: 'The call to the upstream could not be signed with its credential; tell the operator.',
    cause: `signing: ${reasonOf(error)}`,
  };
}

/** The failure for a fault in the translation's own code, which is not counted against the upstream. */
export function inside(error: unknown): Failure {
  return {
    code: 'internal_error',
    message: 'Something went wrong in the translation of the answer; tell the operator the request ID.',
    cause: traceOf(error),
    ours: true,
  };
}
