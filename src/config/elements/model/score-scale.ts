/** The scale of a model's scores: what its targets rerank with must not be of two scales, unless they are brought to one. */

import type { Operation } from '../../../core/operations/index.ts';
import type { ScoreScale } from '../../../core/scores.ts';
import { toPathText } from '../../read/faults.ts';
import type { CompileContext } from '../context.ts';
import type { Entry } from '../document.ts';
import type { ModelEntry } from './schema.ts';
import { nameOf, type PlacedTargets, serves } from './targets.ts';

const inWords: Readonly<Record<ScoreScale, string>> = {
  raw: 'raw scores',
  sigmoid: 'scores between 0 and 1 (sigmoid)',
};

/** What all that rerank answer with. Undefined: there are none, or nobody knows it of each of them. */
export function toScores(
  { path, value }: Entry<ModelEntry>,
  served: readonly Operation[],
  called: PlacedTargets,
  { faults, warnings }: CompileContext,
): ScoreScale | undefined {
  if (!served.includes('rerank')) {
    if (value.scores !== undefined) {
      warnings.push(`${toPathText([...path, 'scores'])} has no effect, as the model does not serve rerank`);
    }
    return undefined;
  }
  const ranking = called.filter((target) => serves(target, 'rerank'));
  const scaleOf = ({ target }: PlacedTargets[number]) => target.scores?.scale;
  if (value.scores !== undefined) {
    for (const placed of ranking.filter((one) => scaleOf(one) === undefined)) {
      faults.add(
        placed.path,
        `nobody knows on which scale its scores are, so they cannot be made ${value.scores}; say what they are with scores: raw or scores: sigmoid on this target, or take it out of the model`,
      );
    }
    return value.scores;
  }
  const scales = new Set(ranking.map(scaleOf));
  if (scales.has('raw') && scales.has('sigmoid')) {
    const naming = ranking.flatMap((placed) => {
      const scale = scaleOf(placed);
      return scale === undefined ? [] : [`${nameOf(placed)} has ${inWords[scale]}`];
    });
    faults.add(
      [...path, 'targets'],
      `${naming.join(', ')}, and scores of two scales must not be mixed; set the model's scores to sigmoid or raw, to which they are brought, or make each a model of its own`,
    );
  }
  const [scale, ...others] = scales;
  return others.length === 0 ? scale : undefined;
}
