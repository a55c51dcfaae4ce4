/**
 * Objects that an upstream keeps, such as files and earlier answers, lie in the operator's account, where those of every client
 * are: whoever knows a name there could use it. What a request names so is refused, as if it did not exist.
 */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { Kept } from '../core/operations/row.ts';
import type { Route } from '../core/route.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { atOnce, inTurns } from '../lib/turns.ts';
import { hasEscapedLetter, isNameIn } from './json-names.ts';
import type { Question } from './question.ts';

/** A longer body that may name one is not read for it. */
const longestReadBytes = 4 * 1024 ** 2;

/** Longer than this, it is looked through in turns. */
const oneTurnBytes = 512 * 1024;

/** Throws where the request names one. Without a promise where it is not long. */
export function checkKeptObjects({ body, scan, form }: Question, { row: { kept } }: Route): undefined | Promise<void> {
  if (kept === undefined) return undefined;
  // Forms write what lies in one another with brackets: `images[0][file_id]`.
  const bracketed = form === undefined ? undefined : kept.names.find((name) => body.includes(`[${name}]`));
  if (bracketed !== undefined) throw notKept(bracketed);
  checkBackground({ body, scan });
  for (const name of kept.fields) {
    const field = scan.fields.get(name);
    if ((field !== undefined && field.kind !== 'null') || scan.foldedOnly.includes(name)) throw notKept(name);
  }
  const looking = look(body, kept);
  if (body.length > oneTurnBytes) return inTurns(looking);
  atOnce(looking);
  return undefined;
}

function* look(body: Buffer, kept: Kept): Generator<undefined, void, undefined> {
  let suspect: string | undefined;
  for (const name of kept.names) {
    if (yield* isNameIn(body, name)) {
      suspect = name;
      break;
    }
    yield;
  }
  if (suspect === undefined && !(yield* hasEscapedLetter(body))) return;
  const found = body.length > longestReadBytes ? (suspect ?? 'input') : namedIn(JSON.parse(body.toString()), kept);
  if (found !== undefined) throw notKept(found);
}

const LOWER_T = 0x74;

/** What goes on by itself could be neither ended nor billed. */
function checkBackground({ body, scan }: Pick<Question, 'body' | 'scan'>): void {
  const field = scan.fields.get('background');
  if (field === undefined || body[field.start] !== LOWER_T) return;
  throw new GatewayError('unsupported_parameter', {
    param: 'background',
    message: 'An answer that is made in the background cannot be fetched through the gateway; leave "background" out.',
  });
}

/** As a value, or in a list of them: where a schema has a property of that name, an object stands there. */
function namedIn(value: unknown, kept: Kept): string | undefined {
  if (Array.isArray(value)) return firstOf(value, kept);
  if (!isMapping(value)) return undefined;
  for (const name of kept.names) {
    if (!Object.hasOwn(value, name) || (kept.inParts === 'files' && value.type !== 'file' && name === 'file_id'))
      continue;
    const named = value[name];
    const isNamed = typeof named === 'string' || (Array.isArray(named) && named.some((one) => typeof one === 'string'));
    if (isNamed || (name === 'container' && isMapping(named) && typeof named.id === 'string')) return name;
  }
  return firstOf(Object.values(value), kept);
}

function firstOf(values: readonly unknown[], kept: Kept): string | undefined {
  for (const value of values) {
    const found = namedIn(value, kept);
    if (found !== undefined) return found;
  }
  return undefined;
}

function notKept(param: string): GatewayError {
  return new GatewayError('object_not_found', {
    param,
    message: `What "${param}" names is not known here: nothing that an upstream keeps can be used through the gateway; send its content instead.`,
  });
}
