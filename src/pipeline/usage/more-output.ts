/** What is billed as output beyond what bounds an answer: text that a client foretells, thought beyond it, and what a conversation is made shorter with. */

import type { Asking } from '../../core/accounting/price.ts';
import type { Course } from '../../core/dispatch.ts';
import type { Question } from '../question.ts';
import { numberIn } from './number-in.ts';

type Model = Pick<Course['model'], 'context' | 'maxOutput'>;

/** Beyond any model, and so that no product of it loses a digit. */
const mostTokens = 1_000_000_000;

export function withMore(question: Question, asking: Asking, { context, maxOutput }: Model): Asking {
  const foretold = lengthOf(question, 'prediction') * (asking.choices ?? 1);
  // Between calls of tools a model may think for more than one answer is long; it is not bounded by that then.
  const thought = numberIn(question, 'thinking.budget_tokens') ?? 0;
  const beyond = foretold + (thought >= asking.mostOutputTokens ? thought : 0);
  const more =
    beyond === 0 ? asking : { ...asking, mostOutputTokens: Math.min(asking.mostOutputTokens + beyond, mostTokens) };
  if (lengthOf(question, 'context_management') === 0) return more;
  // All is read once more, and written as a summary.
  if (maxOutput === undefined) return { ...more, unbounded: more.unbounded ?? 'context_management' };
  return {
    ...more,
    mostInputTokens: Math.min(more.mostInputTokens + (context ?? more.mostInputTokens), mostTokens),
    mostOutputTokens: Math.min(more.mostOutputTokens + maxOutput, mostTokens),
  };
}

/** Of what stands there; some upstreams read other spellings of its name, too. */
function lengthOf({ body, scan }: Question, name: string): number {
  const field = scan.fields.get(name);
  if (field === undefined) return scan.foldedOnly.includes(name) ? body.length : 0;
  return field.kind === 'null' ? 0 : field.end - field.start;
}
