/** Checks that a response's first vector has as many numbers as the request asks for, or as the operator declares. */

import { Buffer } from 'node:buffer';
import type { Usage } from '../core/accounting/usage.ts';
import { numbersInBytes, numbersInList } from '../core/number-kinds.ts';
import { type Failure, misfit } from '../core/outcome.ts';
import { textOf } from '../lib/json/json-scan.ts';
import { CLOSE_BRACKET, COLON, COMMA, DOT, OPEN_BRACKET, QUOTE, SPACE } from '../lib/json/json-tokens.ts';
import { JsonWalk, JsonWalkError } from '../lib/json/json-walk.ts';
import type { Plan } from '../plan/planned-call.ts';
import { numberIn } from '../plan/usage/number-in.ts';

export interface Width {
  readonly count: number;
  readonly isAsked: boolean;
  /** The kind of numbers in a list, and that in base64; the latter is undefined where the client did not ask for base64. */
  readonly kinds: { readonly list: string; readonly base64: string | undefined };
}

/** The requested width, else the width that the operator declares; undefined where neither is a positive integer. */
export function widthOf(asked: number | undefined, declared: number | undefined): Omit<Width, 'kinds'> | undefined {
  const count = asked ?? declared;
  if (count === undefined || !Number.isInteger(count) || count < 1) return undefined;
  return { count, isAsked: asked !== undefined };
}

/** The width that the operator declares for a model; undefined for a part of a list, as the list engine checks it over all parts. */
export const declaredFor = ({ resolved: { model }, isPart }: Pick<Plan, 'resolved' | 'isPart'>): number | undefined =>
  isPart === true ? undefined : model.dimensions;

export function widthFor(plan: Pick<Plan, 'question' | 'resolved' | 'isPart'>): Width | undefined {
  const width = widthOf(numberIn(plan.question, 'dimensions'), declaredFor(plan));
  const kinds = width && kindsIn(plan);
  return width && kinds && { ...width, kinds };
}

/** The kinds of numbers that vectors may have; undefined where the request asks for a kind that cannot be determined. */
function kindsIn({ question: { body, scan } }: Pick<Plan, 'question'>): Width['kinds'] | undefined {
  const field = scan.fields.get('encoding_format');
  const format = field?.kind === 'string' ? textOf(body, field).toLowerCase() : 'float';
  const kind = kindSaidIn(body);
  if (kind === undefined) return undefined;
  if (format === 'base64') return { list: kind, base64: kind };
  // Some clients name the kind of numbers in `encoding_format`.
  return { list: format === 'float' ? kind : format, base64: undefined };
}

const kindFields = ['output_dtype', 'embed_dtype', 'embedding_type'];

function kindSaidIn(body: Buffer): string | undefined {
  if (!kindFields.some((name) => body.includes(`"${name}"`))) return 'float';
  const walk = new JsonWalk(body);
  let said: string | undefined = 'float';
  try {
    walk.object((name) => {
      const isKind = kindFields.includes(name);
      const isText = walk.peek() === QUOTE;
      const { start, end } = walk.value();
      if (isKind) said = isText ? body.toString('latin1', start + 1, end - 1) : undefined;
    });
  } catch (error) {
    if (error instanceof JsonWalkError) return undefined;
    throw error;
  }
  return said;
}

const vectorKey = Buffer.from('"embedding"');

/** The offset behind a member's name and its colon; -1 where no colon follows, so that the text is no name. */
export function valueAfterName(bytes: Buffer, at: number): number {
  let next = at;
  while ((bytes[next] ?? COLON) <= SPACE) next += 1;
  return bytes[next] === COLON ? next + 1 : -1;
}

/** The number of elements of the first vector, by its commas; undefined where it is no complete list of numbers. */
function widthIn(bytes: Buffer, { list, base64 }: Width['kinds']): number | undefined {
  let at = -1;
  for (let name = bytes.indexOf(vectorKey); name !== -1 && at === -1; name = bytes.indexOf(vectorKey, name + 1)) {
    at = valueAfterName(bytes, name + vectorKey.length);
  }
  if (at === -1) return undefined;
  while ((bytes[at] ?? COLON) <= SPACE) at += 1;
  if (bytes[at] === QUOTE) return base64 === undefined ? undefined : numbersInText(bytes, at, base64);
  const end = bytes[at] === OPEN_BRACKET ? bytes.indexOf(CLOSE_BRACKET, at) : -1;
  const inside = bytes.subarray(at + 1, end);
  if (end === -1 || inside.includes(OPEN_BRACKET)) return undefined;
  let commas = 0;
  for (let next = inside.indexOf(COMMA); next !== -1; next = inside.indexOf(COMMA, next + 1)) commas += 1;
  const isEmpty = commas === 0 && inside.toString('latin1').trim() === '';
  return isEmpty ? 0 : numbersInList(list, commas + 1, inside.includes(DOT));
}

/** The first vector's wrong width; undefined where it is right, or cannot be checked. */
export function otherWidthIn(
  bytes: Buffer,
  width: Width,
): { readonly width: Width; readonly came: number } | undefined {
  const came = widthIn(bytes, width.kinds);
  return came === undefined || came === width.count ? undefined : { width, came };
}

function numbersInText(bytes: Buffer, at: number, kind: string): number | undefined {
  const end = bytes.indexOf(QUOTE, at + 1);
  if (end === -1) return undefined;
  const text = bytes.toString('latin1', at + 1, end).replaceAll('\\/', '/');
  return numbersInBytes(kind, Buffer.byteLength(text, 'base64'));
}

/** The failure for a wrong width, which is final, as another answer costs again. No cooldown where the client chose the width. */
export function wrongWidth({ count, isAsked }: Omit<Width, 'kinds'>, came: number, served: Usage | null): Failure {
  const why = isAsked
    ? `"dimensions" asks for ${count}; leave it out, or ask the operator for a model that can shorten its vectors`
    : `the operator declares ${count} (models[].dimensions); tell the operator`;
  return {
    ...misfit(`vectors of ${came} numbers`),
    message: `The upstream answered with vectors of ${came} numbers, and ${why}.`,
    ...(isAsked && { ours: true }),
    isFinal: true,
    served,
  };
}
