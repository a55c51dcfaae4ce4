/** Parses Google's errors, which have typed details. */

import type { ErrorWireFormat } from '../../core/translation.ts';
import { isJsonList, type Json } from '../../lib/json/json-text.ts';
import { at, textIn } from './reading.ts';

export const googleErrors: ErrorWireFormat = {
  // Its other fields are the usual ones.
  read(body) {
    const details = detailsOf(errorIn(body));
    // The Gemini API reports a wrong key as a bad argument, which a client would take for its own.
    if (details.some((detail) => at(detail, 'reason') === 'API_KEY_INVALID')) {
      return {
        message: 'The upstream does not take the key that the gateway has for it; tell the operator.',
        isOurKey: true,
      };
    }
    const violations = details.map((detail) => at(detail, 'fieldViolations')).find(isJsonList);
    return { param: textIn(at(violations?.[0], 'field')) };
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
