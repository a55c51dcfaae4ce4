/** What pictures and sound that are asked for can count. See docs/prices.md. */

import type { Asking, Price } from '../../core/accounting/price.ts';
import type { Course } from '../../core/dispatch.ts';
import { textOf } from '../../lib/json/json-scan.ts';
import type { Question } from '../question.ts';
import { numberIn } from './number-in.ts';

type Model = Pick<Course['model'], 'context' | 'maxOutput'>;

const bytesPerToken = 4;
/** Of sound that is billed by tokens, about twenty a second, in which some fifteen characters are said. */
const soundTokensPerCharacter = 1.5;
/** Beyond what any service makes at once. */
const mostPictures = 1_000;
/** Where nobody says how much one answer can be. */
const boundlessTokens = 131_072;
const LOWER_T = 0x74;

/** What is billed by tokens of output is bounded by the model alone: no field of a request says so. */
const boundedByModel: readonly (keyof Price)[] = ['output'];

/** `max_output` is of one picture; those that show how it becomes count as one each. */
export function forImages(question: Question, { maxOutput }: Model): Asking {
  const { body, scan } = question;
  const images = toCount(numberIn(question, 'n'), 1);
  const shown = 1 + toCount(numberIn(question, 'partial_images'), 0);
  return {
    items: 1,
    images,
    likelyInputTokens: Math.ceil(body.length / bytesPerToken),
    mostInputTokens: body.length,
    mostOutputTokens: (maxOutput ?? boundlessTokens) * images * shown,
    mostSearchUnits: 0,
    isStream: body[scan.fields.get('stream')?.start ?? -1] === LOWER_T,
    ...(maxOutput === undefined && { unbounded: 'n', unboundedBy: boundedByModel }),
  };
}

/** Characters are those of the text, and no bytes. */
export function forSpeech({ body, scan }: Question, { maxOutput }: Model): Asking {
  const field = scan.fields.get('input');
  const characters = field === undefined ? 0 : lengthOf(textOf(body, field));
  return {
    items: 1,
    images: 0,
    characters,
    likelyInputTokens: Math.ceil(body.length / bytesPerToken),
    mostInputTokens: body.length,
    likelyOutputTokens: Math.ceil(characters * soundTokensPerCharacter),
    mostOutputTokens: maxOutput ?? boundlessTokens,
    mostSearchUnits: 0,
    ...(maxOutput === undefined && { unbounded: 'input', unboundedBy: boundedByModel }),
  };
}

const toCount = (asked: number | undefined, standard: number): number =>
  Math.min(Math.max(Math.ceil(asked ?? standard), standard), mostPictures);

/** Of those outside the first plane, two units are one. */
function lengthOf(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.codePointAt(at) ?? 0) <= 0xffff) continue;
    pairs += 1;
    at += 1;
  }
  return text.length - pairs;
}
