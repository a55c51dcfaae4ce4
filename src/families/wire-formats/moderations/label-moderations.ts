/** Converts labels with scores, which classifiers return, to a moderation: the categories of each label, and the score threshold. */

import type { FamilyOption, Options } from '../../../core/family.ts';
import { Unfit } from '../../../core/translation.ts';
import type { Json, JsonNumber } from '../../../lib/json/json-text.ts';
import { listIn, objectIn } from '../reading.ts';
import {
  categoriesOf,
  foldLabel,
  harmlessLabels,
  labelCategories,
  type OpenaiCategory,
  openaiCategories,
} from './moderation-categories.ts';
import { type Finding, type Judgement, scoreIn } from './moderations.ts';

const meanings = [...openaiCategories, 'flagged', 'safe'].join('|');

export const labelOptions: Readonly<Record<'threshold' | 'labels', FamilyOption>> = {
  threshold: {
    description: 'Moderations: the lowest score that counts, above 0 and up to 1.',
    pattern: /^(?:0?\.\d*[1-9]\d*|1(?:\.0+)?)$/,
    form: 'a number above 0 and up to 1, such as 0.5',
    default: '0.5',
  },
  labels: {
    description:
      "Moderations: what the model's labels mean, such as `LABEL_1=hate,LABEL_0=safe`: a category of OpenAI, `flagged` (no category) or `safe`.",
    pattern: new RegExp(`^[^=,]+=(?:${meanings})(?:,[^=,]+=(?:${meanings}))*$`),
  },
};

/** The meaning of a label: harmless, or OpenAI's categories; undefined for unknown labels. */
type Meaning = 'safe' | readonly OpenaiCategory[] | undefined;

interface Label {
  readonly score: JsonNumber;
  readonly meaning: Meaning;
}

/** Makes a function that judges an input by its labels; `input` is the input's position. */
export function createLabelJudge({ threshold, labels = '' }: Options): (labels: Json, input: number) => Judgement {
  const from = Number(threshold);
  const configured = readMeanings(labels);

  function meaningOf(label: string): Meaning {
    const folded = foldLabel(label);
    return configured.get(folded) ?? (harmlessLabels.has(folded) ? 'safe' : categoriesOf(labelCategories, folded));
  }

  function readLabel(element: Json): Label {
    const { label, score } = objectIn(element, 'a label');
    if (typeof label !== 'string') throw new Unfit('a label has no name');
    return { score: scoreIn(score), meaning: meaningOf(label) };
  }

  function toFinding({ score, meaning }: Label): Finding[] {
    if (meaning === undefined || meaning === 'safe') return [];
    return [{ categories: meaning, isFlagged: score.value >= from, score }];
  }

  return (original, input) => {
    const said = listIn(original, 'what is said of an input').map(readLabel);
    if (said.length === 0) throw new Unfit('an input has no labels');
    const highest = said.reduce((most, { score }) => Math.max(most, score.value), 0);
    // An unknown label may be the worst or the best: either verdict would be a guess.
    const unknown = said.findIndex(
      ({ score, meaning }) => meaning === undefined && (score.value >= from || score.value === highest),
    );
    if (unknown === -1) return { findings: said.flatMap(toFinding), original };
    // The label itself is not repeated: it may hold the input, or a credential.
    throw new Unfit(
      `label ${unknown} of input ${input} is unknown here; the operator learns its name from the classifier itself, and says what it means in the option "labels"`,
    );
  };
}

/** Parses the option `labels`; a label that occurs several times has all its categories. */
function readMeanings(labels: string): ReadonlyMap<string, Exclude<Meaning, undefined>> {
  const configured = new Map<string, Exclude<Meaning, undefined>>();
  for (const pair of labels === '' ? [] : labels.split(',')) {
    const [label = '', meaning] = pair.split('=');
    const folded = foldLabel(label);
    const before = configured.get(folded) ?? [];
    if (meaning === 'safe') configured.set(folded, 'safe');
    else if (before !== 'safe')
      configured.set(folded, [...before, ...openaiCategories.filter((one) => one === meaning)]);
  }
  return configured;
}
