/** Detects request loops by a header that lists the gateway installations a request passed: none may pass it twice. */

import { GatewayError } from './errors.ts';

export const loopHeader = 'x-postern-loop';

const mark = /^[A-Za-z0-9._-]{1,64}$/;
/** Upper bound of marks: nobody builds more gateways in a row on purpose. */
const mostMarks = 16;

/** The header's value for upstream calls: the marks that came with the request, and our own. Throws where our own is among them. */
export function withOwnMark(installation: string, came: string | undefined): string {
  if (came === undefined) return installation;
  const marks = came.split(',').map((text) => text.trim());
  if (marks.includes(installation)) {
    throw new GatewayError('malformed_request', {
      message:
        'This request has been here before: an upstream of this gateway leads back to it. Point its base_url at the service itself.',
    });
  }
  if (marks.length >= mostMarks || !marks.every((text) => mark.test(text))) {
    throw new GatewayError('malformed_request', {
      message: `The header ${loopHeader} is written by gateways, and holds the marks of fewer than ${mostMarks} of them; leave it out.`,
    });
  }
  return `${marks.join(', ')}, ${installation}`;
}
