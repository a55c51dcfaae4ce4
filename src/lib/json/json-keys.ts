/** Compiles the top-level keys of a JSON object that a scan watches, and tests whether a key is one of them. */

import { Buffer } from 'node:buffer';
import { BACKSLASH } from './json-tokens.ts';

/** Watched keys in a form for fast comparison: compiled once, used for every top-level key. */
export interface WatchedKeys {
  /** All watched names, the common ones first. */
  readonly names: readonly string[];
  readonly common: number;
  /** Spellings of the names, by the first letter of a key in either case. */
  readonly byFirstLetter: readonly (readonly Spelling[])[];
  /** The index of each name in `names`, by the folded name. */
  readonly byFolded: ReadonlyMap<string, number>;
}

interface Spelling {
  readonly index: number;
  readonly exact: Buffer;
  readonly upperCase: Buffer;
}

const noSpellings: readonly Spelling[] = [];

/** The result of `matchKey` for keys that are not watched. */
export const UNWATCHED = -1;

/** Limit of common names, and of rare ones: the scanner has an integer for each, with one bit per seen name. */
const mostNames = 32;
const longestName = 64;
const longestNameBytes = longestName * '\\u0000'.length;

/** Folds letter case. Dotless i, long s and Kelvin sign fold to ASCII letters too; Go matches keys by the last two. */
const fold = (name: string): string => name.toLowerCase().toUpperCase();

const upperCaseOf = Uint8Array.from({ length: 0x80 }, (_, code) => fold(String.fromCharCode(code)).charCodeAt(0));

/** Compiles the keys of a scan. Names must differ in more than letter case. The scan tells which common names it found, and whether any rare one. */
export function compileWatchedKeys(commonNames: readonly string[], rareNames: readonly string[] = []): WatchedKeys {
  if (Math.max(commonNames.length, rareNames.length) > mostNames) {
    throw new RangeError(`at most ${mostNames} keys can be watched`);
  }
  const names = [...commonNames, ...rareNames];
  const byFolded = new Map<string, number>();
  const spellings = names.map((name, index): Spelling => {
    const folded = fold(name);
    if (!/^\w+$/.test(name) || name.length > longestName) throw new TypeError(`"${name}" cannot be watched`);
    if (byFolded.has(folded)) throw new TypeError(`"${name}" is watched twice`);
    byFolded.set(folded, index);
    return { index, exact: Buffer.from(name), upperCase: Buffer.from(folded) };
  });
  const byLetter = Map.groupBy(spellings, ({ upperCase }) => upperCase[0]);
  return {
    names: Object.freeze(names),
    common: commonNames.length,
    byFirstLetter: Array.from(upperCaseOf, (letter) => byLetter.get(letter) ?? noSpellings),
    byFolded,
  };
}

/** Matches the key in `[start, end)`: `UNWATCHED`, or twice its index in `names`, plus one where the spelling is exact. */
export function matchKey(watched: WatchedKeys, bytes: Buffer, start: number, end: number): number {
  if (start === end) return UNWATCHED;
  const first = bytes[start] ?? 0;
  if (first < 0x80 && first !== BACKSLASH) {
    const candidates = watched.byFirstLetter[first] ?? noSpellings;
    if (candidates.length === 0) return UNWATCHED;
    for (const { exact, upperCase, index } of candidates) {
      if (exact.length !== end - start) continue;
      if (isExactly(exact, bytes, start)) return index * 2 + 1;
      if (isFolded(upperCase, bytes, start)) return index * 2;
    }
    if (isPlain(bytes, start, end)) return UNWATCHED;
  }
  return matchDecoded(watched, bytes, start, end);
}

function matchDecoded({ names, byFolded }: WatchedKeys, bytes: Buffer, start: number, end: number): number {
  if (end - start > longestNameBytes) return UNWATCHED;
  const name = String(JSON.parse(bytes.toString('utf8', start - 1, end + 1)));
  const folded = fold(name);
  // No reader takes one character that folds to two letters for these two letters.
  const index = folded.length === name.length ? byFolded.get(folded) : undefined;
  if (index === undefined) return UNWATCHED;
  return names[index] === name ? index * 2 + 1 : index * 2;
}

function isExactly(exact: Buffer, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < exact.length; i++) if (bytes[start + i] !== exact[i]) return false;
  return true;
}

function isFolded(upperCase: Buffer, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < upperCase.length; i++) if (upperCaseOf[bytes[start + i] ?? 0] !== upperCase[i]) return false;
  return true;
}

function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === BACKSLASH || (bytes[i] ?? 0) >= 0x80) return false;
  return true;
}
