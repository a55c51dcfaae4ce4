/** Worst-case usage of image and audio requests. See docs/reference/prices.md. */

import type { Buffer } from 'node:buffer';
import {
  inputUnits,
  outputUnits,
  type PictureRate,
  type PriceUnit,
  type RequestEstimate,
} from '../../core/accounting/price.ts';
import type { RoutePlan } from '../../core/dispatch.ts';
import { type JsonField, textOf } from '../../lib/json/json-scan.ts';
import { atOnce, timeSliced } from '../../lib/time-slices.ts';
import type { Question } from '../question.ts';
import { isStreamAsked, numberIn } from './number-in.ts';

type Model = Pick<RoutePlan['model'], 'context' | 'maxOutput' | 'maxAudioMs'>;

const bytesPerToken = 4;
/** Longer than this, a text is counted in turns; between two places to stop. */
const oneSliceBytes = 512 * 1024;
const bytesPerPiece = 64 * 1024;
/** Of sound that is billed by tokens, about twenty a second, in which some fifteen characters are said. */
const soundTokensPerCharacter = 1.5;
/** Beyond what any service makes at once. */
const mostPictures = 1_000;
/** Where nobody says how much one answer can be. */
const boundlessTokens = 131_072;
const tokensPerPicture = 1_000;
const soundTokensPerSecond = 10;

/** What is billed by tokens of output is bounded by the model alone: no field of a request says so. */
const boundedByModel: readonly PriceUnit[] = outputUnits;
/** Of sound as most services take it, compressed: 128 kbit/s. */
const bytesPerSecond = 16_000;

/** `max_output` is of one picture; those that show how it becomes count as one each. */
export function forImages(question: Question, { context, maxOutput }: Model): RequestEstimate {
  const { body, scan } = question;
  const images = toCount(numberIn(question, 'n'), 1);
  const shown = 1 + toCount(numberIn(question, 'partial_images'), 0);
  const given = ['image', 'images'].find((name) => scan.fields.get(name) !== undefined);
  const unboundedBy: readonly PriceUnit[] = [
    ...(given !== undefined && context === undefined ? inputUnits : []),
    ...(maxOutput === undefined ? boundedByModel : []),
  ];
  return {
    items: 1,
    images,
    picture: { size: wordIn(question, 'size'), quality: wordIn(question, 'quality') },
    likelyInputTokens: Math.ceil(body.length / bytesPerToken) + (given === undefined ? 0 : tokensPerPicture),
    mostInputTokens: given === undefined ? body.length : (context ?? boundlessTokens),
    mostOutputTokens: (maxOutput ?? boundlessTokens) * images * shown,
    mostSearchUnits: 0,
    isStream: isStreamAsked(question),
    ...(unboundedBy.length > 0 && { unbounded: given ?? 'n', unboundedBy }),
  };
}

/** What a request leaves to the service, or says so that services may read it in two ways, is undefined: it may be the dearest. */
function wordIn({ body, scan }: Question, name: keyof PictureRate): string | undefined {
  const field = scan.fields.get(name);
  if (field?.kind !== 'string') return undefined;
  const word = textOf(body, field);
  return word === 'auto' ? undefined : word;
}

/** How long a recording is, and what it counts, is seen by nobody before it is read. */
export function forRecording(question: Question, { context, maxOutput, maxAudioMs }: Model): RequestEstimate {
  const { form, body } = question;
  const likelySeconds = Math.ceil((form?.fileBytes ?? 0) / bytesPerSecond);
  const unboundedBy: readonly PriceUnit[] = [
    ...(maxAudioMs === undefined ? (['minute'] as const) : []),
    ...(context === undefined ? inputUnits : []),
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

/** Characters are those of the text, and no bytes. Without a promise where it is not long. */
export function forSpeech({ body, scan }: Question, { maxOutput }: Model): RequestEstimate | Promise<RequestEstimate> {
  const field = scan.fields.get('input');
  const toRequestEstimate = (characters: number): RequestEstimate => ({
    items: 1,
    images: 0,
    characters,
    likelyInputTokens: Math.ceil(body.length / bytesPerToken),
    mostInputTokens: body.length,
    likelyOutputTokens: Math.ceil(characters * soundTokensPerCharacter),
    mostOutputTokens: maxOutput ?? boundlessTokens,
    mostSearchUnits: 0,
    ...(maxOutput === undefined && { unbounded: 'input', unboundedBy: boundedByModel }),
  });
  if (field === undefined) return toRequestEstimate(0);
  const counting = charactersIn(body, field);
  return body.length <= oneSliceBytes
    ? toRequestEstimate(atOnce(counting))
    : timeSliced(counting).then(toRequestEstimate);
}

const toCount = (asked: number | undefined, standard: number): number =>
  Math.min(Math.max(Math.ceil(asked ?? standard), standard), mostPictures);

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
/** Two escapes that are one character: a high surrogate, and a low one right behind it. */
const highSurrogate = /^\\u[dD][89abAB]/;
const lowSurrogate = /^\\u[dD][c-fC-F]/;
const escapeBytes = 6;

/** As Unicode counts them, of a well-formed text between its quotes. */
function* charactersIn(body: Buffer, { start, end }: JsonField): Generator<undefined, number, undefined> {
  let count = 0;
  let nextStop = start + bytesPerPiece;
  for (let at = start + 1; at < end - 1; at += 1) {
    if (at >= nextStop) {
      nextStop = at + bytesPerPiece;
      yield;
    }
    const byte = body[at] ?? 0;
    // What goes on with a character that has begun is none of its own.
    if ((byte & 0xc0) !== 0x80) count += 1;
    if (byte !== BACKSLASH) continue;
    if (body[at + 1] !== LOWER_U) at += 1;
    else at += (isPairAt(body, at) ? 2 : 1) * escapeBytes - 1;
  }
  return count;
}

const isPairAt = (body: Buffer, at: number): boolean =>
  highSurrogate.test(body.toString('latin1', at, at + escapeBytes)) &&
  lowSurrogate.test(body.toString('latin1', at + escapeBytes, at + 2 * escapeBytes));
