/** A score on another scale: from logits to what lies between 0 and 1, and back. */

import type { ScoreScale } from '../../../core/scores.ts';
import { Unfit } from '../../../core/translation.ts';
import { JsonNumber } from '../../../lib/json/json-text.ts';

/** Some round beyond their bounds by as much. */
const slack = 1e-6;
const leastShare = Number.MIN_VALUE;
const mostShare = 1 - Number.EPSILON / 2;

/** Rises with the score, so the order stays; always finite. Throws `Unfit` where a score is not on the scale it is said to be on. */
export function rescaled(score: JsonNumber, from: ScoreScale | undefined, to: ScoreScale | undefined): JsonNumber {
  if (from === to || from === undefined || to === undefined) return score;
  return new JsonNumber(String(to === 'raw' ? logitOf(score) : sigmoidOf(score.value)));
}

function sigmoidOf(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

function logitOf({ value, source }: JsonNumber): number {
  if (value < -slack || value > 1 + slack) {
    throw new Unfit(`a score is ${source.slice(0, 30)}, and those of this target are said to lie between 0 and 1`);
  }
  const share = Math.min(Math.max(value, leastShare), mostShare);
  return Math.log(share) - Math.log1p(-share);
}
