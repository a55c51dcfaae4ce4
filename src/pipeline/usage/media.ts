/** What pictures and sound that are asked for can count. See docs/prices.md. */

import type { Asking, Price } from '../../core/accounting/price.ts';
import type { Course } from '../../core/dispatch.ts';
import { textOf } from '../../lib/json/json-scan.ts';
import type { Question } from '../question.ts';
import { isStreamAsked, numberIn } from './number-in.ts';

type Model = Pick<Course['model'], 'context' | 'maxOutput' | 'maxAudioMs'>;

const bytesPerToken = 4;
/** Of sound that is billed by tokens, about twenty a second, in which some fifteen characters are said. */
const soundTokensPerCharacter = 1.5;
/** Beyond what any service makes at once. */
const mostPictures = 1_000;
/** Where nobody says how much one answer can be. */
const boundlessTokens = 131_072;
const tokensPerPicture = 1_000;
const soundTokensPerSecond = 10;

/** What is billed by tokens of output is bounded by the model alone: no field of a request says so. */
const boundedByModel: readonly (keyof Price)[] = ['output'];
/** Of sound as most services take it, compressed: 128 kbit/s. */
const bytesPerSecond = 16_000;

/** `max_output` is of one picture; those that show how it becomes count as one each. */
export function forImages(question: Question, { context, maxOutput }: Model): Asking {
  const { body, scan } = question;
  const images = toCount(numberIn(question, 'n'), 1);
  const shown = 1 + toCount(numberIn(question, 'partial_images'), 0);
  const given = ['image', 'images'].find((name) => scan.fields.get(name) !== undefined);
  const unboundedBy: readonly (keyof Price)[] = [
    ...(given !== undefined && context === undefined ? (['input'] as const) : []),
    ...(maxOutput === undefined ? boundedByModel : []),
  ];
  return {
    items: 1,
    images,
    likelyInputTokens: Math.ceil(body.length / bytesPerToken) + (given === undefined ? 0 : tokensPerPicture),
    mostInputTokens: given === undefined ? body.length : (context ?? boundlessTokens),
    mostOutputTokens: (maxOutput ?? boundlessTokens) * images * shown,
    mostSearchUnits: 0,
    isStream: isStreamAsked(question),
    ...(unboundedBy.length > 0 && { unbounded: given ?? 'n', unboundedBy }),
  };
}

/** How long a recording is, and what it counts, is seen by nobody before it is read. */
export function forRecording(question: Question, { context, maxOutput, maxAudioMs }: Model): Asking {
  const { form, body } = question;
  const likelySeconds = Math.ceil((form?.fileBytes ?? 0) / bytesPerSecond);
  const unboundedBy: readonly (keyof Price)[] = [
    ...(maxAudioMs === undefined ? (['minute'] as const) : []),
    ...(context === undefined ? (['input'] as const) : []),
    ...(maxOutput === undefined ? boundedByModel : []),
  ];
  return {
    items: 1,
    images: 0,
    likelySeconds,
    mostSeconds: maxAudioMs === undefined ? likelySeconds : Math.ceil(maxAudioMs / 1_000),
    likelyInputTokens: Math.ceil(body.length / bytesPerToken) + likelySeconds * soundTokensPerSecond,
    mostInputTokens: context ?? boundlessTokens,
    mostOutputTokens: maxOutput ?? boundlessTokens,
    mostSearchUnits: 0,
    isStream: isStreamAsked(question),
    ...(unboundedBy.length > 0 && { unbounded: 'file', unboundedBy }),
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
