/** How many tokens a text has in one of OpenAI's vocabularies: byte pairs, merged by rank. */

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
    tokens += tokensIn(Buffer.from(word).toString('latin1'), of);
    looked += 1;
    if (looked % wordsPerPiece === 0) yield;
  }
  return tokens;
}

/** Two pieces beside each other become one, that of the lowest rank first, until no two are one. */
function tokensIn(bytes: string, ranks: ReadonlyMap<string, number>): number {
  if (ranks.has(bytes)) return 1;
  if (bytes.length > longestWordBytes) return Math.ceil(bytes.length / bytesPerToken);
  const pieces = [...bytes];
  for (;;) {
    let lowest = Number.POSITIVE_INFINITY;
    let at = -1;
    for (let index = 0; index + 1 < pieces.length; index += 1) {
      const rank = ranks.get(`${pieces[index]}${pieces[index + 1]}`);
      if (rank === undefined || rank >= lowest) continue;
      lowest = rank;
      at = index;
    }
    if (at === -1) return pieces.length;
    pieces.splice(at, 2, `${pieces[at]}${pieces[at + 1]}`);
  }
}
