/** How Google's services speak of errors: a status in words, and details by kind. */

import type { ErrorDialect } from '../../core/translation.ts';
import { isJsonList, type Json } from '../../lib/json-text.ts';
import { at, textIn } from './reading.ts';

const types: Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: 'invalid_request_error',
  FAILED_PRECONDITION: 'invalid_request_error',
  OUT_OF_RANGE: 'invalid_request_error',
  NOT_FOUND: 'invalid_request_error',
  UNAUTHENTICATED: 'authentication_error',
  PERMISSION_DENIED: 'permission_error',
  RESOURCE_EXHAUSTED: 'rate_limit_error',
};

export const googleErrors: ErrorDialect = {
  // Beside it stands a number under "code", which says no more than the status.
  read(body) {
    const error = errorIn(body);
    const status = textIn(at(error, 'status'));
    if (status === undefined) return undefined;
    // A wrong key is a bad argument to the Gemini API; a client would take it for its own.
    const isOurKey = detailsOf(error).some((detail) => at(detail, 'reason') === 'API_KEY_INVALID');
    return {
      message: isOurKey
        ? 'The upstream does not take the key that the gateway has for it; tell the operator.'
        : undefined,
      type: isOurKey ? 'upstream_error' : (types[status] ?? 'upstream_error'),
      code: status,
    };
  },
  retryAfterS(body) {
    for (const detail of detailsOf(errorIn(body))) {
      const [, seconds] = /^(\d{1,9}(?:\.\d+)?)s$/.exec(textIn(at(detail, 'retryDelay')) ?? '') ?? [];
      if (seconds !== undefined) return Number(seconds);
    }
    return undefined;
  },
  // They name the operator's project.
  withheld: [401, 403],
};

/** Some answers are a list of one error. */
function errorIn(body: Json | undefined): Json | undefined {
  return at(isJsonList(body) ? body[0] : body, 'error');
}

function detailsOf(error: Json | undefined): readonly Json[] {
  const details = at(error, 'details');
  return isJsonList(details) ? details : [];
}
