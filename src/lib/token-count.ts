/** The tokens of a text in one of OpenAI's vocabularies, and how many there are: byte pairs, merged by rank. */

import { Buffer } from 'node:buffer';
import { type Encoding, encodingOf, type Vocabulary } from './token-ids.ts';
import { inTurns } from './turns.ts';

/** What is longer is no word, and merging takes the square of its length. */
const longestWordBytes = 256;
const bytesPerToken = 4;
/** Between two places to stop. */
const wordsPerPiece = 64;
const piecesPerPiece = 2_048;

interface Ranks {
  readonly words: RegExp;
  /** By the bytes of the piece, a character each. */
  readonly of: ReadonlyMap<string, number>;
}

const prepared = new Map<Vocabulary, Promise<Ranks>>();

/** The vocabulary is loaded for the first text. */
export async function countTokens(vocabulary: Vocabulary, text: string): Promise<number> {
  return inTurns(count(await ranksOf(vocabulary), text));
}

function ranksOf(vocabulary: Vocabulary): Promise<Ranks> {
  const known = prepared.get(vocabulary);
  if (known !== undefined) return known;
  const ranks = encodingOf(vocabulary).then((encoding) => inTurns(toRanks(encoding)));
  prepared.set(vocabulary, ranks);
  // What could not be loaded may be there the next time.
  ranks.catch(() => prepared.delete(vocabulary));
  return ranks;
}

function* toRanks({ pieces, words }: Encoding): Generator<undefined, Ranks> {
  const of = new Map<string, number>();
  for (const [rank, piece] of pieces.entries()) {
    if (piece !== undefined) of.set(atob(piece), rank);
    if (rank % piecesPerPiece === 0) yield;
  }
  return { of, words: new RegExp(words, 'gu') };
}

function* count({ of, words }: Ranks, text: string): Generator<undefined, number> {
  let tokens = 0;
  let looked = 0;
  for (const [word] of text.matchAll(words)) {
    const bytes = toBytes(word);
    tokens += bytes.length > longestWordBytes ? Math.ceil(bytes.length / bytesPerToken) : piecesOf(bytes, of).length;
    looked += 1;
    if (looked % wordsPerPiece === 0) yield;
  }
  return tokens;
}

/** A character for each byte. */
const toBytes = (word: string): string => Buffer.from(word).toString('latin1');

export interface Token {
  readonly id: number;
  /** Where it ends within a character, that has U+FFFD in its place. */
  readonly text: string;
}

/** A language without spaces has words of hundreds of bytes. */
const longestMergedBytes = 4_096;

/** What the text is made of; undefined where a word in it is too long to be looked at. */
export async function tokensOf(vocabulary: Vocabulary, text: string): Promise<readonly Token[] | undefined> {
  return inTurns(split(await ranksOf(vocabulary), text));
}

function* split({ of, words }: Ranks, text: string): Generator<undefined, readonly Token[] | undefined> {
  const tokens: Token[] = [];
  for (const [word] of text.matchAll(words)) {
    const bytes = toBytes(word);
    if (bytes.length > longestMergedBytes) return undefined;
    for (const piece of piecesOf(bytes, of)) {
      tokens.push({ id: of.get(piece) ?? 0, text: Buffer.from(piece, 'latin1').toString('utf8') });
    }
    yield;
  }
  return tokens;
}

/** Two pieces beside each other become one, that of the lowest rank first, until no two are one. */
function piecesOf(bytes: string, ranks: ReadonlyMap<string, number>): readonly string[] {
  if (bytes === '' || ranks.has(bytes)) return bytes === '' ? [] : [bytes];
  const pieces = [...bytes];
  const rankAt = (index: number): number =>
    ranks.get(`${pieces[index]}${pieces[index + 1]}`) ?? Number.POSITIVE_INFINITY;
  /** Of each piece with the one behind it. */
  const pairs = pieces.slice(1).map((_, index) => rankAt(index));
  for (;;) {
    const lowest = lowestIn(pairs);
    if (lowest === -1) return pieces;
    pieces.splice(lowest, 2, `${pieces[lowest]}${pieces[lowest + 1]}`);
    pairs.splice(lowest, 1);
    if (lowest > 0) pairs[lowest - 1] = rankAt(lowest - 1);
    if (lowest < pairs.length) pairs[lowest] = rankAt(lowest);
  }
}

function lowestIn(pairs: readonly number[]): number {
  let lowest = Number.POSITIVE_INFINITY;
  let found = -1;
  for (let index = 0; index < pairs.length; index += 1) {
    const rank = pairs[index] ?? Number.POSITIVE_INFINITY;
    if (rank >= lowest) continue;
    lowest = rank;
    found = index;
  }
  return found;
}
