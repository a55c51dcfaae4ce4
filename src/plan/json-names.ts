/** Searches JSON bytes for field names, without parsing. */

import { Buffer } from 'node:buffer';
import { getOrMake } from '../lib/get-or-make.ts';
import { BACKSLASH, COLON, SPACE } from '../lib/json/json-tokens.ts';

/** The beginning of a letter that is written as an escape; no honest client does that, but a forbidden name could be hidden so. */
const escapedLetter = Buffer.from('\\u00');
const UNDERSCORE = 0x5f;

const quotedNames = new Map<string, Buffer>();

function quotedOf(name: string): Buffer {
  return getOrMake(quotedNames, name, () => Buffer.from(`"${name}"`));
}

/** Limits of the work between two points where a search may pause: matches, and bytes. */
const looksPerPiece = 512;
const bytesPerPiece = 1024 ** 2;

/** Offset of the wanted bytes at or after `from`; -1 where there are none. With many near matches even the native search takes long. */
export function* find(body: Buffer, wanted: Buffer, from: number): Generator<undefined, number, undefined> {
  for (let start = from; start < body.length; start += bytesPerPiece) {
    const isLast = body.length - start <= bytesPerPiece;
    const piece = isLast ? body : body.subarray(0, start + bytesPerPiece + wanted.length - 1);
    const at = piece.indexOf(wanted, start);
    if (at !== -1) return at;
    yield;
  }
  return -1;
}

/** Whether the body has a field with this name; a text of that value does not count. */
export function* isNameIn(body: Buffer, name: string): Generator<undefined, boolean, undefined> {
  return (yield* count(body, quotedOf(name), { areNames: true, most: 1 })) > 0;
}

export const countNames = (body: Buffer, name: string): Generator<undefined, number, undefined> =>
  count(body, quotedOf(name), { areNames: true, most: Number.POSITIVE_INFINITY });

/** Counts the texts of exactly this value; field names do not count. */
export const countTexts = (body: Buffer, text: string): Generator<undefined, number, undefined> =>
  count(body, quotedOf(text), { areNames: false, most: Number.POSITIVE_INFINITY });

interface Counted {
  readonly areNames: boolean;
  readonly most: number;
}

function* count(body: Buffer, quoted: Buffer, { areNames, most }: Counted): Generator<undefined, number, undefined> {
  let found = 0;
  let looks = 0;
  for (let at = yield* find(body, quoted, 0); at !== -1; at = yield* find(body, quoted, at)) {
    at += quoted.length;
    while ((body[at] ?? COLON) <= SPACE) at += 1;
    if ((body[at] === COLON) === areNames) found += 1;
    if (found >= most) return found;
    looks += 1;
    if (looks % looksPerPiece === 0) yield;
  }
  return found;
}

/** Whether a character that occurs in field names is written as an escape. Other characters, such as `<`, often are, and do not count. */
export function* hasEscapedLetter(body: Buffer): Generator<undefined, boolean, undefined> {
  let looks = 0;
  for (let at = yield* find(body, escapedLetter, 0); at !== -1; at = yield* find(body, escapedLetter, at + 1)) {
    const code = hexAt(body, at + escapedLetter.length) * 16 + hexAt(body, at + escapedLetter.length + 1);
    if (isOfNames(code) && !isEscaped(body, at)) return true;
    looks += 1;
    if (looks % looksPerPiece === 0) yield;
  }
  return false;
}

const isOfNames = (code: number): boolean =>
  code === UNDERSCORE || isBetween(code | 0x20, 0x61, 0x7a) || isBetween(code, 0x30, 0x39);

const isBetween = (code: number, first: number, last: number): boolean => code >= first && code <= last;

function hexAt(body: Buffer, at: number): number {
  const code = (body[at] ?? 0) | 0x20;
  if (code >= 0x61 && code <= 0x66) return code - 0x57;
  return code >= 0x30 && code <= 0x39 ? code - 0x30 : 0x100;
}

/** Whether the character at this offset is escaped by an odd number of backslashes before it. */
function isEscaped(body: Buffer, at: number): boolean {
  let first = at;
  while (body[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}
