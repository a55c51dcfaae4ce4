/** Splits text into tokens of OpenAI's vocabularies, by byte pair encoding: neighbouring pieces are merged by rank. */

import { Buffer } from 'node:buffer';
import type { PieceTable } from './piece-table.ts';
import { timeSliced } from './time-slices.ts';
import { tableOf, type Vocabulary } from './token-ids.ts';

/** Longest word that is tokenized exactly: a longer text is no word and is estimated, as merging takes quadratic time. */
const longestWordBytes = 256;
const bytesPerToken = 4;
const wordsPerPiece = 64;

/** Counts the tokens of a text; the vocabulary is loaded for the first one. */
export async function countTokens(vocabulary: Vocabulary, text: string): Promise<number> {
  return timeSliced(count(await tableOf(vocabulary), text));
}

function* count({ idOf, words }: PieceTable, text: string): Generator<undefined, number> {
  let tokens = 0;
  let looked = 0;
  for (const [word] of text.matchAll(words)) {
    const bytes = toBytes(word);
    tokens += bytes.length > longestWordBytes ? Math.ceil(bytes.length / bytesPerToken) : piecesOf(bytes, idOf).length;
    looked += 1;
    if (looked % wordsPerPiece === 0) yield;
  }
  return tokens;
}

/** Converts a word to a text with one character for each byte. */
const toBytes = (word: string): string => Buffer.from(word).toString('latin1');

export interface Token {
  readonly id: number;
  /** The token's text; U+FFFD stands for a character that is cut at the token's end. */
  readonly text: string;
}

/** Longest word that is merged: languages without spaces have words of hundreds of bytes. */
const longestMergedBytes = 4_096;

/** The tokens of a text; undefined where a word is too long to tokenize. */
export async function tokensOf(vocabulary: Vocabulary, text: string): Promise<readonly Token[] | undefined> {
  return timeSliced(split(await tableOf(vocabulary), text));
}

function* split({ idOf, words }: PieceTable, text: string): Generator<undefined, readonly Token[] | undefined> {
  const tokens: Token[] = [];
  for (const [word] of text.matchAll(words)) {
    const bytes = toBytes(word);
    if (bytes.length > longestMergedBytes) return undefined;
    for (const piece of piecesOf(bytes, idOf)) {
      tokens.push({ id: idOf(piece) ?? 0, text: Buffer.from(piece, 'latin1').toString('utf8') });
    }
    yield;
  }
  return tokens;
}

/** Splits a word into pieces: merges neighbouring ones, lowest rank first, until no pair has a rank. */
function piecesOf(bytes: string, idOf: PieceTable['idOf']): readonly string[] {
  if (bytes === '' || idOf(bytes) !== undefined) return bytes === '' ? [] : [bytes];
  const pieces = [...bytes];
  const rankAt = (index: number): number => idOf(`${pieces[index]}${pieces[index + 1]}`) ?? Number.POSITIVE_INFINITY;
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
