/** The scales of rerank scores: one model never answers with two of them. */

/** Numbers without bounds, as a reranker computes them, or the same between 0 and 1: `1 / (1 + e^-x)`. */
export const scoreScales = ['raw', 'sigmoid'] as const;
export type ScoreScale = (typeof scoreScales)[number];

/** What a family says of the scores that it reranks with. */
export interface OfferedScores {
  /** Undefined where that is the model's own affair, or nobody knows. */
  readonly scale: ScoreScale | ((upstreamName: string) => ScoreScale | undefined);
  /** `raw_scores` in a request says which of the two come back. */
  readonly isSwitched?: true;
}

/** The scores of one target. */
export interface TargetScores {
  /** Of an answer to a request that does not say; undefined where nobody knows. */
  readonly scale: ScoreScale | undefined;
  /** A request may say `raw_scores`, and is heard. */
  readonly isSwitched: boolean;
  /** What the operator wants them brought to; undefined: they stay as they come. */
  readonly wanted: ScoreScale | undefined;
}

/** What a request says of `raw_scores`. */
export type RawAsked = boolean | 'unclear' | undefined;

/** The scores of one answer. */
export interface Scoring {
  /** As the upstream says them. */
  readonly from: ScoreScale | undefined;
  /** As the client gets them. */
  readonly to: ScoreScale | undefined;
  /** What the upstream is told as `raw_scores`; undefined: what the client says. */
  readonly raw: boolean | undefined;
}

/** Who asks for raw scores gets them; `false` is what many clients send always, and asks for nothing. */
export function scoringOf({ scale, isSwitched, wanted }: TargetScores, asked: RawAsked): Scoring {
  if (wanted === undefined) {
    const is = isSwitched && asked !== undefined ? scaleAsked(asked) : scale;
    return { from: is, to: is, raw: undefined };
  }
  const to = asked === true ? 'raw' : wanted;
  return { from: isSwitched ? to : scale, to, raw: isSwitched && to === 'raw' };
}

function scaleAsked(asked: boolean | 'unclear'): ScoreScale | undefined {
  if (asked === 'unclear') return undefined;
  return asked ? 'raw' : 'sigmoid';
}

/** Whether a request must be changed, or its answer, for the scores to be what they have to be. */
export function needsScoring(scores: TargetScores, asked: RawAsked): boolean {
  if (scores.wanted === undefined) return false;
  const { from, to, raw } = scoringOf(scores, asked);
  return asked === 'unclear' || from !== to || (scores.isSwitched && raw !== (asked === true));
}
