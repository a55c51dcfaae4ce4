/** Moderation responses for clients, byte for byte, built from the parts that differ. */

import {
  type OpenaiCategory,
  openaiCategories,
} from '../../src/families/wire-formats/moderations/moderation-categories.ts';

/** What was looked for: whether it was found, and the score as it is written. */
type Looked = Readonly<Partial<Record<OpenaiCategory, readonly [isFound: boolean, score: string]>>>;

export function moderated(model: string, results: readonly string[], usage?: string): string {
  const counted = usage === undefined ? '' : `,"usage":${usage}`;
  return `{"id":"modr-{exchange}","model":"${model}","results":[${results.join(',')}]${counted}}`;
}

/** One result; all categories that were not looked for are false, 0 and of no kind of input. */
export function verdict(flagged: boolean, looked: Looked, original: string): string {
  const each = (valueFor: (category: OpenaiCategory) => string) =>
    `{${openaiCategories.map((category) => `"${category}":${valueFor(category)}`).join(',')}}`;
  return [
    `{"flagged":${flagged}`,
    `"categories":${each((category) => String(looked[category]?.[0] ?? false))}`,
    `"category_scores":${each((category) => looked[category]?.[1] ?? '0')}`,
    `"category_applied_input_types":${each((category) => (looked[category] === undefined ? '[]' : '["text"]'))}`,
    `"original":${original}}`,
  ].join(',');
}
