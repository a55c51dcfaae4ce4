/** Mistral's moderations: its own categories and scores, without a flagged field. */

import type { FamilyOption } from '../../../core/family.ts';
import { Unfit } from '../../../core/translation.ts';
import { isJsonObject, type Json } from '../../../lib/json/json-text.ts';
import { listIn, objectIn, textIn } from '../reading.ts';
import { categoriesOf, mistralCategories } from './moderation-categories.ts';
import { type Finding, type Judgement, scoreIn, translateModerations } from './moderations.ts';

/** For the family's options. */
export const flaggedBy: FamilyOption = {
  description:
    'What flags a text: `any` category, or only those that OpenAI has too (`mapped`), so not `pii`, `health`, `law` and the like.',
  values: ['any', 'mapped'],
  default: 'any',
};

export const mistralModerations = translateModerations({
  own: ['metadata'],
  isStrict: true,
  write: ({ texts, isSingle, model, more }) => ({
    body: { ...more, model, input: isSingle ? (texts[0] ?? '') : texts },
  }),
  read({ body }, { asked }) {
    const { results, model, usage } = objectIn(body, 'the answer');
    const countsAll = asked.options.flagged_by !== 'mapped';
    return {
      judgements: listIn(results, 'results').map((result) => toJudgement(result, countsAll)),
      model: textIn(model),
      usage: isJsonObject(usage) ? usage : undefined,
    };
  },
});

function toJudgement(result: Json, countsAll: boolean): Judgement {
  const { categories, category_scores: scores } = objectIn(result, 'a result');
  const said = Object.entries(objectIn(categories, 'categories'));
  if (said.length === 0) throw new Unfit('a result has no categories');
  const scored = scores === undefined ? undefined : objectIn(scores, 'category_scores');
  const findings = said.map(([name, verdict]): Finding => {
    if (typeof verdict !== 'boolean') throw new Unfit('a category is neither true nor false');
    const mapped = categoriesOf(mistralCategories, name) ?? [];
    const score = scored?.[name];
    return {
      categories: mapped,
      isFlagged: verdict && (countsAll || mapped.length > 0),
      score: score === undefined ? undefined : scoreIn(score),
    };
  });
  if (!countsAll && findings.every(({ categories: mapped }) => mapped.length === 0)) {
    throw new Unfit("a result has no category that is mapped to one of OpenAI's");
  }
  return { findings, original: result };
}
