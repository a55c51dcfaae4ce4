/** The watched top-level keys of a JSON object, and the test for a key in a body. */

import { Buffer } from 'node:buffer';
import { BACKSLASH, LOWER_U, longestEscapeBytes } from './json-tokens.ts';

/** Compiled once; used for every top-level key. */
export interface WatchedKeys {
  /** Common ones first, then rare ones. */
  readonly names: readonly string[];
  readonly common: number;
  /** The names by the first letter of a key, in either case. */
  readonly byFirstLetter: readonly (readonly Spelling[])[];
}

interface Spelling {
  readonly index: number;
  readonly exact: Buffer;
  readonly upperCase: Buffer;
}

const noSpellings: readonly Spelling[] = [];

/** `matchKey` returns it for other keys. */
export const UNWATCHED = -1;

/** The scanner has one bit for each seen name: one integer for common names, and one for rare ones. */
const mostNames = 32;
const longestName = 64;

/** The non-ASCII characters that fold to an ASCII letter: dotless i, long s, Kelvin sign. Go matches keys by the last two. */
const foldsToAscii: ReadonlyMap<number, number> = new Map([
  [0x0131, marked('I')],
  [0x017f, marked('S')],
  [0x212a, marked('K')],
]);

/** A code for a letter written as such a character: equal to no byte of a name, but with the same upper case. */
function marked(letter: string): number {
  return letter.charCodeAt(0) | 0x80;
}

const upperCaseOf = Uint8Array.from({ length: 256 }, (_, code) =>
  String.fromCharCode(code & 0x7f)
    .toUpperCase()
    .charCodeAt(0),
);

/** Compiles the keys of a scan. Names must differ in more than letter case. The rare ones are tested together. */
export function compileWatchedKeys(commonNames: readonly string[], rareNames: readonly string[] = []): WatchedKeys {
  if (Math.max(commonNames.length, rareNames.length) > mostNames) {
    throw new RangeError(`at most ${mostNames} keys can be watched`);
  }
  const names = [...commonNames, ...rareNames];
  const upperCase = names.map((name) => name.toUpperCase());
  const spellings = names.map((name, index): Spelling => {
    if (!/^\w+$/.test(name) || name.length > longestName) throw new TypeError(`"${name}" cannot be watched`);
    if (upperCase.indexOf(name.toUpperCase()) !== index) throw new TypeError(`"${name}" is watched twice`);
    return { index, exact: Buffer.from(name), upperCase: Buffer.from(name.toUpperCase()) };
  });
  const byLetter = Map.groupBy(spellings, ({ upperCase }) => upperCase[0]);
  return {
    names: Object.freeze(names),
    common: commonNames.length,
    byFirstLetter: Array.from({ length: 0x80 }, (_, first) => byLetter.get(upperCaseOf[first]) ?? noSpellings),
  };
}

/** `UNWATCHED` for the key in `[start, end)`, or twice its index in `names`, plus one where the spelling is exact. */
export function matchKey({ byFirstLetter }: WatchedKeys, bytes: Buffer, start: number, end: number): number {
  if (start === end) return UNWATCHED;
  const first = bytes[start] ?? 0;
  if (first < 0x80 && first !== BACKSLASH) {
    const candidates = byFirstLetter[first] ?? noSpellings;
    if (candidates.length === 0) return UNWATCHED;
    for (const { exact, index } of candidates) {
      if (exact.length === end - start && isExactly(exact, bytes, start)) return index * 2 + 1;
    }
  }
  const length = decode(bytes, start, end);
  if (length === 0) return UNWATCHED;
  for (const { exact, upperCase, index } of byFirstLetter[upperCaseOf[decoded[0] ?? 0] ?? 0] ?? noSpellings) {
    if (exact.length !== length) continue;
    if (isExactly(exact, decoded, 0)) return index * 2 + 1;
    if (isFolded(upperCase)) return index * 2;
  }
  return UNWATCHED;
}

function isExactly(exact: Buffer, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < exact.length; i++) if (bytes[start + i] !== exact[i]) return false;
  return true;
}

function isFolded(upperCase: Buffer): boolean {
  for (let i = 0; i < upperCase.length; i++) if (upperCaseOf[decoded[i] ?? 0] !== upperCase[i]) return false;
  return true;
}

/** The current key with decoded escapes: ASCII, with letters written as other characters marked. */
const decoded = Buffer.alloc(longestName);

/** Fills `decoded` and returns its length; 0 where the key holds a character that no watched name has. */
function decode(bytes: Buffer, start: number, end: number): number {
  let length = 0;
  for (let i = start; i < end; i += sizeAt(bytes, i)) {
    const unit = unitAt(bytes, i);
    const letter = unit < 0x80 ? unit : (foldsToAscii.get(unit) ?? 0);
    if (letter === 0 || length === longestName) return 0;
    decoded[length++] = letter;
  }
  return length;
}

function sizeAt(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead === BACKSLASH) return longestEscapeBytes;
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : 3;
}

/** The code of the character or escape at `at`; 0 for those in no name: short escapes, and beyond U+FFFF. */
function unitAt(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead === BACKSLASH) return bytes[at + 1] === LOWER_U ? hexUnit(bytes, at + 2) : 0;
  if (lead < 0x80) return lead;
  const second = (bytes[at + 1] ?? 0) & 0x3f;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  return lead < 0xf0 ? ((lead & 0x0f) << 12) | (second << 6) | ((bytes[at + 2] ?? 0) & 0x3f) : 0;
}

function hexUnit(bytes: Buffer, at: number): number {
  let unit = 0;
  for (let i = at; i < at + 4; i++) {
    const c = bytes[i] ?? 0;
    unit = unit * 16 + (c & 0x0f) + (c >> 6) * 9;
  }
  return unit;
}
