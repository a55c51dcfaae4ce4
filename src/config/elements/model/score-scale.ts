/** The scale of a model's scores, and the space of its vectors. */

import type { ScoreScale } from '../../../core/scores.ts';
import type { Location } from '../context.ts';
import { type CompiledModel, type LocatedTarget, type LocatedTargets, nameOf, serves } from './targets.ts';

const inWords: Readonly<Record<ScoreScale, string>> = {
  raw: 'raw scores',
  sigmoid: 'scores between 0 and 1 (sigmoid)',
};

/** The common scale of all rerank targets. Undefined: there are none, or one is unknown. */
export function toScores({ location, value, served, called }: CompiledModel): ScoreScale | undefined {
  if (!served.includes('rerank')) return undefined;
  const ranking = called.filter((target) => serves(target, 'rerank'));
  const scaleOf = ({ target }: LocatedTargets[number]) => target.scores?.scale;
  if (value.scores !== undefined) {
    for (const located of ranking.filter((one) => scaleOf(one) === undefined)) {
      located.location.fault(
        `nobody knows on which scale its scores are, so they cannot be made ${value.scores}; say what they are with scores: raw or scores: sigmoid on this target, or take it out of the model`,
      );
    }
    return value.scores;
  }
  const scales = new Set(ranking.map(scaleOf));
  if (scales.has('raw') && scales.has('sigmoid')) {
    const naming = ranking.flatMap((located) => {
      const scale = scaleOf(located);
      return scale === undefined ? [] : [`${nameOf(located)} has ${inWords[scale]}`];
    });
    location
      .at('targets')
      .fault(
        `${naming.join(', ')}, and scores of two scales must not be mixed; set the model's scores to sigmoid or raw, to which they are brought, or make each a model of its own`,
      );
  }
  const [scale, ...others] = scales;
  return others.length === 0 ? scale : undefined;
}

/** Without a declared space, all embedding targets must name the same model. Undefined: there is none, or one for each name. */
export function toSpace({ location, value, served, called }: CompiledModel): string | undefined {
  if (!served.includes('embeddings')) return undefined;
  if (value.space !== undefined) return value.space;
  const embedding = called.filter((target) => serves(target, 'embeddings'));
  const names = new Set(embedding.map(({ target }) => target.model));
  if (names.size > 1) {
    const naming = embedding.map((located) => `${nameOf(located)} names ${spell(located, value.id, location)}`);
    location
      .at('targets')
      .fault(
        `${naming.join(', ')}, and vectors of different models must not be mixed; make each a model of its own, or set space where all of them make the same vectors`,
      );
  }
  const [name] = names;
  return name?.includes('*') ? undefined : name; // each name that the pattern matches is a space of its own
}

/** A target without a model uses the model's ID, which is elsewhere in the file. */
function spell({ location, target }: LocatedTarget, id: string, model: Location): string {
  const { context, path } = target.model === id ? model.at('id') : location.at('model');
  return context.isSubstituted(path) ? 'one from the environment' : JSON.stringify(target.model);
}
