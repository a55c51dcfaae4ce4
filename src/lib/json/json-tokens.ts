/**
 * Finds the ends of JSON tokens in bytes: the inner loops of the scanner.
 *
 * Every function reads from `at` on and returns the offset of the first byte it did not take. One that can find a fault
 * returns the complement (`~`) of the offset of the first invalid byte. `limit` is where a long token
 * may be paused, `end` is the end of the document. `words` is a view of the same bytes as `bytes`:
 * text and digits are read four at a time, which is what makes a loop in JavaScript keep up with `JSON.parse`.
 */

import { Buffer } from 'node:buffer';

export const LINE_FEED = 0x0a;
export const RETURN = 0x0d;
export const SPACE = 0x20;
export const QUOTE = 0x22;
const PLUS = 0x2b;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const DOT = 0x2e;
export const ZERO = 0x30;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const LOWER_E = 0x65;
export const LOWER_F = 0x66;
export const LOWER_N = 0x6e;
export const LOWER_T = 0x74;
export const LOWER_U = 0x75;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

const longestEscapeBytes = '\\u0000'.length;
/** Up to this length plain text is read by two words, then by four: most runs are short. */
const shortRunBytes = 64;
/** After an escape, this many bytes are read one by one: runs between escapes are mostly short. */
const nearEscapeBytes = 256;

/** By byte: whether it ends a run of plain text (a quote, a backslash or a control character). */
const endsRun = new Uint8Array(256).fill(1, 0, SPACE);
endsRun[QUOTE] = 1;
endsRun[BACKSLASH] = 1;

const isShortEscape = new Uint8Array(256);
for (const c of Buffer.from('"\\/bfnrt')) isShortEscape[c] = 1;

const isHexDigit = new Uint8Array(256);
for (const c of Buffer.from('0123456789abcdefABCDEF')) isHexDigit[c] = 1;

const HIGH_BITS = 0x80808080;

const isDigit = (c: number): boolean => (c - ZERO) >>> 0 <= 9;

export function endOfSpace(bytes: Buffer, at: number, limit: number): number {
  let i = at | 0;
  while (i < limit) {
    const c = bytes[i] ?? 0;
    if (c !== SPACE && c !== LINE_FEED && c !== RETURN && c !== 0x09) return i;
    i = (i + 1) | 0;
  }
  return i;
}

/** Reads the content of a string: ends at the closing quote, or at or after `limit`; or returns a fault. */
export function endOfText(bytes: Buffer, words: DataView, at: number, limit: number, end: number): number {
  let i = endOfRuns(bytes, words, at, limit);
  while (i < limit) {
    const c = bytes[i] ?? 0;
    if (c === QUOTE) return i;
    if (c !== BACKSLASH) return ~i;
    i = endOfEscape(bytes, i, end);
    if (i < 0) return i;
    i = endOfRuns(bytes, words, i, limit);
  }
  return i;
}

/** How many texts, or numbers, with their commas the last call of `endOfTexts` or `endOfNumbers` read. */
export let elementsPassed = 0;

/** Starts inside a text of a list: reads whole texts, up to the last offset inside a text that is certainly well-formed. */
export function endOfTexts(bytes: Buffer, words: DataView, at: number, limit: number): number {
  let i = at | 0;
  let passed = 0;
  const last = (limit - 3) | 0;
  for (;;) {
    i = endOfRuns(bytes, words, i, limit);
    if (i > last || bytes[i] !== QUOTE || bytes[i + 1] !== COMMA) break;
    let next = (i + 2) | 0;
    if (bytes[next] !== QUOTE) {
      next = endOfSpace(bytes, next, limit);
      if (next >= limit || bytes[next] !== QUOTE) break;
    }
    i = (next + 1) | 0;
    passed = (passed + 1) | 0;
  }
  elementsPassed = passed;
  return i;
}

/** Reads plain text and escapes: ends at a quote, at a fault, or at or after `limit`. */
function endOfRuns(bytes: Buffer, words: DataView, at: number, limit: number): number {
  let i = endOfRun(bytes, words, at, limit);
  while (i < limit && bytes[i] === BACKSLASH) {
    const next = endOfEscapes(bytes, i, limit);
    if (next === i) return i;
    i = endOfRun(bytes, words, next, limit);
  }
  return i;
}

function endOfRun(bytes: Buffer, words: DataView, at: number, limit: number): number {
  let i = at | 0;
  const lastPair = Math.min(i + shortRunBytes, limit - 8) | 0;
  while (i <= lastPair) {
    const first = runEnds(words.getInt32(i, true) | 0) & HIGH_BITS;
    const second = runEnds(words.getInt32((i + 4) | 0, true) | 0) & HIGH_BITS;
    if ((first | second) !== 0) return first !== 0 ? i + lowestByte(first) : i + 4 + lowestByte(second);
    i = (i + 8) | 0;
  }
  const lastFour = (limit - 16) | 0;
  while (i <= lastFour) {
    const pair = runEnds(words.getInt32(i, true) | 0) | runEnds(words.getInt32((i + 4) | 0, true) | 0);
    const next = runEnds(words.getInt32((i + 8) | 0, true) | 0) | runEnds(words.getInt32((i + 12) | 0, true) | 0);
    if (((pair | next) & HIGH_BITS) !== 0) break;
    i = (i + 16) | 0;
  }
  while (i < limit && endsRun[bytes[i] ?? 0] === 0) i = (i + 1) | 0;
  return i;
}

/** Marks, of four bytes, those that end a run of plain text by their highest bit. Subtraction borrows, so only the lowest mark is exact. */
function runEnds(four: number): number {
  // With bit 1 flipped, only control characters and the quote are below 0x21.
  const quoteOrControl = (four ^ 0x02020202) - 0x21212121;
  const backslash = (four ^ 0x5c5c5c5c) - 0x01010101;
  return (quoteOrControl | backslash) & ~four;
}

const lowestByte = (bits: number): number => (31 - Math.clz32(bits & (~bits + 1))) >> 3;

/** Reads plain text and whole escapes, byte by byte. */
function endOfEscapes(bytes: Buffer, at: number, limit: number): number {
  let i = at | 0;
  const far = Math.min(i + nearEscapeBytes, limit) | 0;
  while (i < far) {
    const c = bytes[i] ?? 0;
    if (endsRun[c] === 0) i = (i + 1) | 0;
    else if (c !== BACKSLASH) return i;
    else {
      const escaped = bytes[(i + 1) | 0] ?? 0;
      if (isShortEscape[escaped] !== 0) i = (i + 2) | 0;
      else if (escaped === LOWER_U && fourHexDigits(bytes, (i + 2) | 0)) i = (i + longestEscapeBytes) | 0;
      else return i;
    }
  }
  return i;
}

const hexDigit = (bytes: Buffer, at: number): number => isHexDigit[bytes[at] ?? 0] ?? 0;

function fourHexDigits(bytes: Buffer, at: number): boolean {
  const first = hexDigit(bytes, at) & hexDigit(bytes, (at + 1) | 0);
  return (first & hexDigit(bytes, (at + 2) | 0) & hexDigit(bytes, (at + 3) | 0)) !== 0;
}

function endOfEscape(bytes: Buffer, at: number, end: number): number {
  const i = at + 1;
  if (i >= end) return ~end;
  const c = bytes[i] ?? 0;
  if (isShortEscape[c] !== 0) return i + 1;
  if (c !== LOWER_U) return ~i;
  for (let k = i + 1; k <= i + 4; k++) {
    if (k >= end) return ~end;
    if (isHexDigit[bytes[k] ?? 0] === 0) return ~k;
  }
  return i + 5;
}

/** Counts the leading decimal digits among four bytes, most significant byte first. */
function leadingDigits(four: number): number {
  // A digit is below 10 now; anything else has its high bit set or carries into it.
  const x = four ^ 0x30303030;
  return Math.clz32((((x & 0x7f7f7f7f) + 0x76767676) | x) & HIGH_BITS) >> 3;
}

export function endOfDigits(bytes: Buffer, words: DataView, at: number, limit: number): number {
  let i = at | 0;
  const lastFour = (limit - 4) | 0;
  while (i <= lastFour) {
    const digits = leadingDigits(words.getInt32(i) | 0);
    i = (i + digits) | 0;
    if (digits < 4) return i;
  }
  while (i < limit && isDigit(bytes[i] ?? 0)) i = (i + 1) | 0;
  return i;
}

/** Reads a whole number that ends before `limit`; returns 0 where there is none, for any reason. */
export function endOfNumber(bytes: Buffer, words: DataView, at: number, limit: number): number {
  const integer = bytes[at] === MINUS ? at + 1 : at;
  let i = endOfDigits(bytes, words, integer, limit);
  if (i >= limit || i === integer || (bytes[integer] === ZERO && i > integer + 1)) return 0;
  if (bytes[i] === DOT) {
    const fraction = i + 1;
    i = endOfDigits(bytes, words, fraction, limit);
    if (i >= limit || i === fraction) return 0;
  }
  if (((bytes[i] ?? 0) | 0x20) === LOWER_E) {
    let exponent = i + 1;
    if (exponent < limit && (bytes[exponent] === PLUS || bytes[exponent] === MINUS)) exponent++;
    i = endOfDigits(bytes, words, exponent, limit);
    if (i >= limit || i === exponent) return 0;
  }
  return i;
}

/** Reads consecutive numbers of a list, each with the comma after it; ends where an element begins. */
export function endOfNumbers(bytes: Buffer, words: DataView, at: number, limit: number): number {
  let i = at | 0;
  elementsPassed = 0;
  for (;;) {
    i = endOfShortIntegers(bytes, words, i, limit);
    const start = endOfSpace(bytes, i, limit);
    const next = start < limit ? endOfNumber(bytes, words, start, limit) : 0;
    if (next === 0 || bytes[next] !== COMMA) return i;
    i = next + 1;
    elementsPassed += 1;
  }
}

/** Reads integers of up to seven digits, such as token IDs, with at most one space between them. */
function endOfShortIntegers(bytes: Buffer, words: DataView, at: number, limit: number): number {
  let i = at | 0;
  let passed = 0;
  const last = (limit - 9) | 0;
  while (i <= last) {
    const start = bytes[i] === SPACE ? (i + 1) | 0 : i;
    let digits = leadingDigits(words.getInt32(start) | 0);
    if (digits === 4) digits = (4 + leadingDigits(words.getInt32((start + 4) | 0) | 0)) | 0;
    const next = (start + digits) | 0;
    if (digits === 0 || bytes[next] !== COMMA || (digits > 1 && bytes[start] === ZERO)) break;
    i = (next + 1) | 0;
    passed = (passed + 1) | 0;
  }
  elementsPassed += passed;
  return i;
}

/** Reads the sign and the first digit of a number; a zero must not have a digit after it. */
export function endOfNumberHead(bytes: Buffer, at: number, end: number): number {
  const i = endOfDigit(bytes, bytes[at] === MINUS ? at + 1 : at, end);
  const leadingZero = i > 0 && bytes[i - 1] === ZERO && i < end && isDigit(bytes[i] ?? 0);
  return leadingZero ? ~i : i;
}

/** Reads the `e` of an exponent, its sign and its first digit. */
export function endOfExponentHead(bytes: Buffer, at: number, end: number): number {
  const i = at + 1;
  const signed = i < end && (bytes[i] === PLUS || bytes[i] === MINUS);
  return endOfDigit(bytes, signed ? i + 1 : i, end);
}

export function endOfDigit(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return ~end;
  return isDigit(bytes[at] ?? 0) ? at + 1 : ~at;
}

export function endOfLiteral(bytes: Buffer, literal: Buffer, at: number, end: number): number {
  for (let i = 0; i < literal.length; i++) {
    if (at + i >= end) return ~end;
    if (bytes[at + i] !== literal[i]) return ~(at + i);
  }
  return at + literal.length;
}

/** Offset at which the character that contains `at` begins; `at` itself where there is none. */
export function characterStart(body: Buffer, at: number): number {
  if (at >= body.length) return body.length;
  for (let start = at; start > at - 4; start--) {
    if (((body[start] ?? 0) & 0xc0) !== 0x80) return start;
  }
  return at;
}
