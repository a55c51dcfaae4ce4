/** The loop mark: a header that lists the installations a request passed, so that none is passed twice. */

import { GatewayError } from './errors.ts';

export const loopHeader = 'x-postern-loop';

const mark = /^[A-Za-z0-9._-]{1,64}$/;
/** More gateways in a row than anyone builds on purpose. */
const mostMarks = 16;

/** The marks that the request came with, and our own. Throws where our own is among them. */
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
