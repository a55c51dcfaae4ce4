/** What is known of the scores of one target, from its family and from the file. */

import type { Offer } from '../../../core/family.ts';
import { labels } from '../../../core/label.ts';
import type { TargetScores } from '../../../core/scores.ts';
import { offerKey } from '../../../core/snapshot.ts';
import type { Json } from '../../../lib/json/json-text.ts';
import { type Path, toPathText } from '../../read/faults.ts';
import type { CompileContext } from '../context.ts';
import type { ModelEntry, TargetEntry } from './schema.ts';

type OfferMap = ReadonlyMap<string, Offer>;

/** What the family says; undefined where nothing is reranked. */
export function familyScores(offers: OfferMap, upstreamName: string): TargetScores | undefined {
  const offer = labels.map((label) => offers.get(offerKey(label, 'rerank'))).find((one) => one !== undefined);
  if (offer === undefined) return undefined;
  const { scale, isSwitched = false } = offer.scores ?? { scale: undefined };
  return { scale: typeof scale === 'function' ? scale(upstreamName) : scale, isSwitched, wanted: undefined };
}

/** The same, with what the file says of the target and wants of the model. */
export function toTargetScores(
  { scores: said, defaults: { raw_scores: raw } }: TargetEntry,
  { scores: wanted }: ModelEntry,
  upstreamName: string,
  offers: OfferMap,
  path: Path,
  { warnings }: CompileContext,
): TargetScores | undefined {
  const known = familyScores(offers, upstreamName);
  if (known === undefined) {
    if (said !== undefined) warnings.push(`${toPathText([...path, 'scores'])} has no effect, as it reranks nothing`);
    return undefined;
  }
  const { scale = said } = known;
  // Whoever says otherwise than the family has a server that does not hear it.
  const isSwitched = known.isSwitched && (said === undefined || said === scale);
  if (wanted === undefined) return { scale: isSwitched && raw === true ? 'raw' : (said ?? scale), isSwitched, wanted };
  if (raw !== undefined && raw !== null) {
    const place = toPathText([...path, 'defaults', 'raw_scores']);
    warnings.push(`${place} has no effect, as the model's scores says what they are`);
  }
  return { scale: said ?? scale, isSwitched, wanted };
}

/** Where the model says what its scores are, no target says otherwise. */
export function withoutScores(
  defaults: Readonly<Record<string, Json>>,
  scores: TargetScores | undefined,
): Readonly<Record<string, Json>> {
  if (scores?.wanted === undefined) return defaults;
  const { raw_scores: _, ...others } = defaults;
  return Object.freeze(others);
}
