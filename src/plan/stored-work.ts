/** Finds out whether a request makes the upstream store objects or work in the background. */

import { GatewayError } from '../core/errors.ts';
import type { Route } from '../core/route.ts';
import { LOWER_F, LOWER_T } from '../lib/json/json-tokens.ts';
import type { Plan } from './planned-call.ts';
import type { Question } from './question.ts';

/** Whether the request only starts background work. Throws where the gateway could not poll that work. */
export function isInBackground({ body, scan }: Question, records: Plan['records']): boolean {
  const field = scan.fields.get('background');
  if (field === undefined || body[field.start] !== LOWER_T) return false;
  if (records?.isFollowed === true) return true;
  throw new GatewayError('unsupported_parameter', {
    param: 'background',
    message:
      records === undefined
        ? 'An answer that is made in the background is kept until it is fetched; leave "store" out, or "background".'
        : 'An interaction cannot be made in the background, as nobody would know its end; leave "background" out.',
  });
}

/** The answer's fields with IDs of stored objects; undefined where none are stored. Most upstreams store an answer unless the client forbids it. */
export function recordsOf({ body, scan }: Question, { row: { records } }: Route): Plan['records'] {
  if (records === undefined) return undefined;
  const field = scan.fields.get(records.unless);
  return field !== undefined && body[field.start] === LOWER_F ? undefined : records;
}
