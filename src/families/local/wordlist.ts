/** Implements the local model `local/wordlist`: moderates texts by a readable list of rules, in OpenAI's response shape. */

import { isJsonObject, type Json } from '../../lib/json/json-text.ts';
import { type OpenaiCategory, openaiCategories } from '../wire-formats/moderations/moderation-categories.ts';
import { eachWord, foldedStretches } from './cut-words.ts';
import { type Fields, Refusal, readList, readText, readTexts } from './fields.ts';
import { createMaker, listAnswer, type Pace } from './maker.ts';
import { createPatternSearch, longestPattern } from './word-pattern.ts';
import { type Rule, rules, vocabulary } from './wordlist-rules.ts';

const maxInputs = 2048;
const flaggedFrom = 0.5;
/** Scores are rounded to four decimals. */
const scoreSteps = 1e4;

export const moderateByWordlist = createMaker('local/wordlist', ['input'], async ({ fields, model, pace, id }) => {
  const subjects = readSubjects(fields);
  async function* items(): AsyncGenerator<string> {
    for (const texts of subjects) yield JSON.stringify(toResult(await findRules(texts, pace)));
  }
  return listAnswer(pace, { id: id('modr-'), model }, 'results', items(), () => ({}));
});

/** The texts to judge, one result each: a text, every text of a list, or all texts of a message in parts together. */
function readSubjects(fields: Fields): readonly (readonly string[])[] {
  const list = readList(fields, 'input', 'a text or a list of texts', maxInputs);
  if (!isJsonObject(list[0]))
    return readTexts(fields, 'input', 'a text or a list of texts', maxInputs).map((text) => [text]);
  const texts = list.flatMap((part, index) => (isImage(part) ? [] : [readText(part, `input[${index}]`)]));
  if (texts.length > 0) return [texts];
  throw new Refusal(
    'invalid_value',
    'input',
    '"input" holds images only, and this model judges text only; add a text part.',
  );
}

const isImage = (part: Json): boolean => isJsonObject(part) && part.type === 'image_url';

const search = createPatternSearch(rules, vocabulary);
/** Number of words at the end of a stretch that a pattern may still need in the next stretch. */
const overlap = longestPattern(rules, vocabulary) - 1;

async function findRules(texts: readonly string[], pace: Pace): Promise<ReadonlySet<Rule>> {
  const found = new Set<Rule>();
  for (const text of texts) {
    let words: string[] = [];
    for (const stretch of foldedStretches(text)) {
      words = words.slice(-overlap);
      eachWord(stretch, (word) => words.push(word));
      search(words, found);
      await pace.spend(stretch.length);
    }
  }
  await pace.spend(1_000);
  return found;
}

function toResult(found: ReadonlySet<Rule>): object {
  const scores = openaiCategories.map((category) => ({ category, score: toScore(found, category) }));
  return {
    flagged: scores.some(({ score }) => score >= flaggedFrom),
    categories: Object.fromEntries(scores.map(({ category, score }) => [category, score >= flaggedFrom])),
    category_scores: Object.fromEntries(scores.map(({ category, score }) => [category, score])),
    category_applied_input_types: Object.fromEntries(openaiCategories.map((category) => [category, ['text']])),
    // Which rules matched, so that a verdict can be explained.
    postern_rules: rules.filter((rule) => found.has(rule)).map(({ id }) => id),
  };
}

/** The score of a category. Rules count as independent reasons: one minus the product of what each leaves. */
function toScore(found: ReadonlySet<Rule>, category: OpenaiCategory): number {
  let open = 1;
  for (const { weights } of found) open *= 1 - (weights[category] ?? 0);
  return Math.round((1 - open) * scoreSteps) / scoreSteps;
}
