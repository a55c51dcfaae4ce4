/** Undoes escaping of JSON, URLs, HTML and programming languages' strings. */

import { Buffer } from 'node:buffer';

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const HASH = 0x23;
const SEMICOLON = 0x3b;
const LOWER_U = 0x75;
const LOWER_X = 0x78;

/** Characters that a backslash leaves unchanged. */
const escapedAsThemselves = new Set(Array.from('"\\/\'`', (character) => character.charCodeAt(0)));

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  colon: ':',
  commat: '@',
  dollar: '$',
  equals: '=',
  gt: '>',
  lowbar: '_',
  lt: '<',
  num: '#',
  percnt: '%',
  period: '.',
  plus: '+',
  quot: '"',
  sol: '/',
};
const longestEntityBytes = 10;

const mostLayers = 4;

/** The text unchanged, then unescaped once, twice, and so on. */
export function* layersOf(text: Buffer): Generator<Buffer> {
  let layer: Buffer | undefined = text;
  for (let depth = 0; depth <= mostLayers && layer !== undefined; depth += 1) {
    yield layer;
    layer = unescaped(layer);
  }
}

/** Unescapes one layer, of all kinds at once; undefined where nothing was escaped. */
function unescaped(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes(BACKSLASH) && !bytes.includes(PERCENT) && !bytes.includes(AMPERSAND)) return undefined;
  const plain = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; length += 1) {
    const found = escapeAt(bytes, at);
    plain[length] = found === undefined ? (bytes[at] ?? 0) : found.byte;
    at += found === undefined ? 1 : found.length;
  }
  return length === bytes.length ? undefined : plain.subarray(0, length);
}

interface Escape {
  readonly byte: number;
  readonly length: number;
}

function escapeAt(bytes: Buffer, at: number): Escape | undefined {
  switch (bytes[at]) {
    case BACKSLASH:
      return behindBackslash(bytes, at);
    case PERCENT:
      return inHex(bytes, at + 1, 3);
    case AMPERSAND:
      return entityAt(bytes, at);
    default:
      return undefined;
  }
}

function behindBackslash(bytes: Buffer, at: number): Escape | undefined {
  const next = bytes[at + 1] ?? 0;
  if (escapedAsThemselves.has(next)) return { byte: next, length: 2 };
  if (next === LOWER_X) return inHex(bytes, at + 2, 4);
  const isShort = next === LOWER_U && hexAt(bytes, at + 2) === 0;
  return isShort ? inHex(bytes, at + 4, 6) : undefined;
}

/** Two digits; `length` is that of the whole escape. */
function inHex(bytes: Buffer, at: number, length: number): Escape | undefined {
  const byte = hexAt(bytes, at);
  return byte === undefined ? undefined : { byte, length };
}

function hexAt(bytes: Buffer, at: number): number | undefined {
  const high = digitOf(bytes[at]);
  const low = digitOf(bytes[at + 1]);
  return high === undefined || low === undefined ? undefined : high * 16 + low;
}

function digitOf(byte = 0): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}

/** `&amp;`, `&#43;`, `&#x2B;`. */
function entityAt(bytes: Buffer, at: number): Escape | undefined {
  const end = bytes.subarray(at, at + longestEntityBytes).indexOf(SEMICOLON);
  if (end < 2) return undefined;
  const name = bytes.toString('latin1', at + 1, at + end);
  const byte = bytes[at + 1] === HASH ? codeIn(name.slice(1)) : entities[name]?.charCodeAt(0);
  return byte === undefined ? undefined : { byte, length: end + 1 };
}

function codeIn(digits: string): number | undefined {
  const [, hex] = /^x([0-9a-f]+)$/i.exec(digits) ?? [];
  const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
  return Number.isInteger(code) && code > 0 && code < 256 ? code : undefined;
}
