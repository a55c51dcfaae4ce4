/** Reads a moderation response: flagged or not, with category scores, per input. */

import { type Answer, read, readList } from '../call.ts';

export interface Category {
  readonly name: string;
  readonly score: number;
  readonly isFlagged: boolean;
}

export interface Verdict {
  readonly isFlagged: boolean;
  /** The categories, the strongest first. */
  readonly categories: readonly Category[];
}

export function toVerdicts(answer: Answer | undefined): readonly Verdict[] {
  if (answer === undefined || answer.ending !== 'answered') return [];
  return readList(answer.json, 'results').map(toVerdict);
}

function toVerdict(result: unknown): Verdict {
  const [flags, scores] = [read(result, 'categories'), read(result, 'category_scores')];
  const names = new Set([...namesOf(flags), ...namesOf(scores)]);
  const categories = Array.from(names, (name) => {
    const score = read(scores, name);
    return { name, score: typeof score === 'number' ? score : 0, isFlagged: read(flags, name) === true };
  });
  categories.sort((a, b) => Number(b.isFlagged) - Number(a.isFlagged) || b.score - a.score);
  return { isFlagged: read(result, 'flagged') === true, categories };
}

const namesOf = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : []);

/** The title of a category: `self-harm/intent` becomes "Self-harm: intent". */
export function toTitle(name: string): string {
  const [first = '', ...rest] = name.replaceAll('_', ' ').split('/');
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(': ');
}
