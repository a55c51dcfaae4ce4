/** Looks for names of fields in the bytes of JSON, without reading what lies between. */

import { Buffer } from 'node:buffer';

/** A letter written as an escape, as nobody does in earnest: a name may be spelled so. */
const escapedLetter = Buffer.from('\\u00');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const DELETE = 0x7f;

const quotedNames = new Map<string, Buffer>();

/** Of the few that rows have. */
function quotedOf(name: string): Buffer {
  let quoted = quotedNames.get(name);
  if (quoted === undefined) {
    quoted = Buffer.from(`"${name}"`);
    quotedNames.set(name, quoted);
  }
  return quoted;
}

/** As the name of a field, and not as a text. */
export function isNameIn(body: Buffer, name: string): boolean {
  const quoted = quotedOf(name);
  for (let at = body.indexOf(quoted); at !== -1; at = body.indexOf(quoted, at)) {
    at += quoted.length;
    while ((body[at] ?? COLON) <= SPACE) at += 1;
    if (body[at] === COLON) return true;
  }
  return false;
}

/** Whether a printable character of ASCII is spelled as an escape somewhere. */
export function hasEscapedLetter(body: Buffer): boolean {
  for (let at = body.indexOf(escapedLetter); at !== -1; at = body.indexOf(escapedLetter, at + 1)) {
    const code = Number.parseInt(body.toString('latin1', at + escapedLetter.length, at + escapedLetter.length + 2), 16);
    if (code > SPACE && code < DELETE && code !== QUOTE && code !== BACKSLASH && !isEscaped(body, at)) return true;
  }
  return false;
}

/** Whether the backslash is one that another one stands for. */
function isEscaped(body: Buffer, at: number): boolean {
  let first = at;
  while (body[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}
