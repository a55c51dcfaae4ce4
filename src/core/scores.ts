/** Decides on which scale rerank scores are answered, so that one model never answers with two different scales. */

/** `raw`: unbounded numbers, as a reranker computes them; `sigmoid`: the same between 0 and 1, by `1 / (1 + e^-x)`. */
export const scoreScales = ['raw', 'sigmoid'] as const;
export type ScoreScale = (typeof scoreScales)[number];

export interface OfferedScores {
  /** The scale of the upstream's scores; undefined where it depends on the model, or is unknown. */
  readonly scale: ScoreScale | ((upstreamName: string) => ScoreScale | undefined);
  /** The request field `raw_scores` chooses the upstream's scale. */
  readonly isSwitched?: true;
}

export interface TargetScores {
  /** The scale of the upstream's scores where the request has no `raw_scores`; undefined where unknown. */
  readonly scale: ScoreScale | undefined;
  /** A request may choose the upstream's scale by `raw_scores`. */
  readonly isSwitched: boolean;
  /** The scale that the operator configured for answers; undefined: the upstream's. */
  readonly wanted: ScoreScale | undefined;
}

/** What a request says by `raw_scores`; `preferred`: raw scores only where the upstream can return them. */
export type RawAsked = boolean | 'preferred' | 'unclear' | undefined;

export interface Scoring {
  readonly from: ScoreScale | undefined;
  readonly to: ScoreScale | undefined;
  /** The value of `raw_scores` for the upstream; undefined: the client's. */
  readonly raw: boolean | undefined;
}

/** How to treat scores. `raw_scores: true` is honoured; `false`, which many clients always send, is no choice. */
export function scoringOf({ scale, isSwitched, wanted }: TargetScores, asked: RawAsked): Scoring {
  if (wanted === undefined) {
    const is = isSwitched && asked !== undefined ? scaleAsked(asked) : scale;
    return { from: is, to: is, raw: isSwitched && asked === 'preferred' ? true : undefined };
  }
  const to = asked === true || asked === 'preferred' ? 'raw' : wanted;
  return { from: isSwitched ? to : scale, to, raw: isSwitched && to === 'raw' };
}

function scaleAsked(asked: boolean | 'preferred' | 'unclear'): ScoreScale | undefined {
  if (asked === 'unclear') return undefined;
  return asked ? 'raw' : 'sigmoid';
}

/** Whether the request or its answer must be changed to get the right scale. */
export function needsScoring(scores: TargetScores, asked: RawAsked): boolean {
  if (scores.wanted === undefined) return scores.isSwitched && asked === 'preferred';
  const { from, to, raw } = scoringOf(scores, asked);
  return asked === 'unclear' || from !== to || (scores.isSwitched && raw !== (asked === true));
}
