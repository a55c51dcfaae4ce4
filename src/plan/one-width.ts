/** Handles requests for another vector width than the model's fixed one: drops the width, or refuses the request if configured. */

import { Buffer } from 'node:buffer';
import type { RoutePlan } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Route } from '../core/route.ts';
import type { Model } from '../core/snapshot.ts';
import type { JsonSpan } from '../lib/json/json-elements.ts';
import { COMMA, QUOTE, SPACE } from '../lib/json/json-tokens.ts';
import type { ParsingMemory } from './parsing-memory.ts';
import { canonicalReaderOf, type Question } from './question.ts';
import { withOnly } from './route-plan.ts';

const name = 'dimensions';

export function asksOtherWidth({ body, scan }: Question, { dimensions, matryoshka }: Model): boolean {
  if (dimensions === undefined || matryoshka === true) return false;
  const field = scan.fields.get(name);
  return field?.kind === 'number' && Number(body.toString('latin1', field.start, field.end)) !== dimensions;
}

export async function withoutWidth(
  question: Question,
  { dimensions }: Model,
  route: Route,
  memory: ParsingMemory,
): Promise<Question> {
  const { body, scan, words, role } = question;
  const field = scan.fields.get(name);
  if (field === undefined) return question;
  memory.takeBytes(body.length);
  return { ...(await canonicalReaderOf(route)(withoutMember(body, field))), words, role, onlyWidth: dimensions };
}

/** The body without this member and one comma: the one before it, or the one after it for the first member. */
function withoutMember(body: Buffer, { start, end }: JsonSpan): Buffer {
  const nameEnd = body.lastIndexOf(QUOTE, start - 1);
  const nameStart = body.lastIndexOf(QUOTE, nameEnd - 1);
  let before = nameStart - 1;
  while ((body[before] ?? COMMA) <= SPACE) before -= 1;
  return body[before] === COMMA
    ? Buffer.concat([body.subarray(0, before), body.subarray(end)])
    : Buffer.concat([body.subarray(0, nameStart), body.subarray(body.indexOf(COMMA, end) + 1)]);
}

/** The targets that may serve the request without the width it asked for; throws where there are none. */
export function servingOtherWidth(routePlan: RoutePlan, onlyWidth: number): RoutePlan {
  const open = withOnly(routePlan, ({ target }) => target.unsupported !== 'refuse');
  if (open.tiers.length > 0) return open;
  throw new GatewayError('unsupported_parameter', {
    param: name,
    message: `The field "${name}" cannot be served: vectors of this model have ${onlyWidth} numbers; leave it out, or send ${onlyWidth}.`,
  });
}
