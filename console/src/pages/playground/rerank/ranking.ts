/** Orders documents by a rerank response: old and new rank, and score. */

import { type Answer, read, readList } from '../call.ts';
import { toShownText } from '../texts.ts';

export interface RankedDocument {
  /** The document's position in the request, from 0. */
  readonly index: number;
  readonly text: string;
  /** The score; undefined if the answer leaves it out, or there is no answer yet. */
  readonly score: number | undefined;
  /** Length of the bar, from 0 to 1. */
  readonly share: number;
}

export interface Ranking {
  readonly documents: readonly RankedDocument[];
  readonly isRanked: boolean;
}

export const unranked = (documents: readonly unknown[]): Ranking => ({
  documents: documents.map((document, index) => ({
    index,
    text: toShownText(document),
    score: undefined,
    share: 0,
  })),
  isRanked: false,
});

export function toRanking(answer: Answer | undefined): Ranking | undefined {
  if (answer === undefined || answer.ending !== 'answered') return undefined;
  const sent = readList(answer.call.body, 'documents');
  const results = readList(answer.json, 'results').flatMap((result) => {
    const [index, score] = [read(result, 'index'), read(result, 'relevance_score')];
    return typeof index === 'number' && index in sent ? [{ index, score: typeof score === 'number' ? score : 0 }] : [];
  });
  if (results.length === 0) return undefined;
  const toShare = shareOf(results.map(({ score }) => score));
  const named = new Set(results.map(({ index }) => index));
  const left = sent.flatMap((_, index) => (named.has(index) ? [] : [{ index, score: undefined }]));
  const documents = [...results, ...left].map(({ index, score }) => ({
    index,
    score,
    text: toShownText(sent[index]),
    share: score === undefined ? 0 : toShare(score),
  }));
  return { documents, isRanked: true };
}

/** Length of bars relative to the best score, as models use different ranges. If some scores are below 0, the lowest counts as 0. */
function shareOf(scores: readonly number[]): (score: number) => number {
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  if (low >= 0) return (score) => (high === 0 ? 0 : score / high);
  return (score) => (high === low ? 1 : (score - low) / (high - low));
}

interface MarkedPiece {
  readonly text: string;
  readonly isMarked: boolean;
  /** Offset of the piece in the text. */
  readonly at: number;
}

const wordPattern = /[\p{L}\p{N}]+/gu;
const leastLetters = 3;
/** A word with at least this many letters also matches longer forms of it: gate, gates. */
const stemLetters = 4;
const commonWords = new Set(
  'the and for are was how what why who when where does did can with from that this its not you your'.split(' '),
);

/** Finds the words of a query in a text, so that they can be marked. */
export function markWords(text: string, query: string): MarkedPiece[] {
  const wanted = toWords(query).filter((word) => word.length >= leastLetters && !commonWords.has(word));
  const pieces: MarkedPiece[] = [];
  let from = 0;
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    if (!wanted.some((one) => isAlike(one, word.toLowerCase()))) continue;
    if (index > from) pieces.push({ text: text.slice(from, index), isMarked: false, at: from });
    pieces.push({ text: word, isMarked: true, at: index });
    from = index + word.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isMarked: false, at: from });
  return pieces;
}

const toWords = (text: string): string[] => text.toLowerCase().match(wordPattern) ?? [];

function isAlike(one: string, other: string): boolean {
  if (one === other) return true;
  if (Math.min(one.length, other.length) < stemLetters || Math.abs(one.length - other.length) > 2) return false;
  return one.startsWith(other) || other.startsWith(one);
}
