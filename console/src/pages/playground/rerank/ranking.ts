/** Documents in the order of an answer: where each stood, where it stands, and how well it scored. */

import { type Answer, read, readList } from '../call.ts';
import { toShownText } from '../texts.ts';

export interface RankedDocument {
  /** Where it stood in the request, from 0. */
  readonly index: number;
  readonly text: string;
  /** Undefined: the answer leaves it out, or there is none yet. */
  readonly score: number | undefined;
  /** 0 to 1, for the bar. */
  readonly share: number;
}

export interface Ranking {
  readonly documents: readonly RankedDocument[];
  readonly isRanked: boolean;
}

export function unranked(documents: readonly unknown[]): Ranking {
  return {
    documents: documents.map((document, index) => ({
      index,
      text: toShownText(document),
      score: undefined,
      share: 0,
    })),
    isRanked: false,
  };
}

/** Undefined where the answer holds no ranking. */
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

/** Beside the best: models differ in how high they score at all. Where some are below 0, the lowest is the beginning. */
function shareOf(scores: readonly number[]): (score: number) => number {
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  if (low >= 0) return (score) => (high === 0 ? 0 : score / high);
  return (score) => (high === low ? 1 : (score - low) / (high - low));
}
