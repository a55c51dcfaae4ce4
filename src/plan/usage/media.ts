/** Estimates the worst-case usage of image and audio requests. See docs/reference/prices.md. */

import type { Buffer } from 'node:buffer';
import {
  inputUnits,
  outputUnits,
  type PictureRate,
  type PriceUnit,
  type RequestEstimate,
} from '../../core/accounting/price.ts';
import type { RoutePlan } from '../../core/dispatch.ts';
import { type JsonField, oneSliceBytes, textOf } from '../../lib/json/json-scan.ts';
import { BACKSLASH, LOWER_U } from '../../lib/json/json-tokens.ts';
import { atOnce, timeSliced } from '../../lib/time-slices.ts';
import type { Question } from '../question.ts';
import { isStreamAsked, numberIn } from './number-in.ts';

type Model = Pick<RoutePlan['model'], 'context' | 'maxOutput' | 'maxAudioMs'>;

const bytesPerToken = 4;
const bytesPerPiece = 64 * 1024;
/** Tokens that one character of speech may cost: a second of sound has about twenty tokens and fifteen characters. */
const soundTokensPerCharacter = 1.5;
/** Limit of a count of images; no service makes as many at once. */
const mostPictures = 1_000;
const boundlessTokens = 131_072;
const tokensPerPicture = 1_000;
const soundTokensPerSecond = 10;

/** Units of output, which no request bounds: only the model's configured maximum does. */
const boundedByModel: readonly PriceUnit[] = outputUnits;
/** Bytes of one second of compressed sound as most services take it: 128 kbit/s. */
const bytesPerSecond = 16_000;

/** Estimates an image request. `max_output` is for one image; each intermediate image of a stream counts as one more. */
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

/** The request's word for size or quality; undefined where it is open or ambiguous, so that the most expensive one is assumed. */
function wordIn({ body, scan }: Question, name: keyof PictureRate): string | undefined {
  const field = scan.fields.get(name);
  if (field?.kind !== 'string') return undefined;
  const word = textOf(body, field);
  return word === 'auto' ? undefined : word;
}

/** Estimates a transcription: the length of a recording, and its tokens, are unknown before it is processed. */
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

/** Estimates a speech request by the characters of the text, not its bytes. Returns no promise for a short text. */
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

/** Finds the first of two escapes that form one character: a high surrogate, which a low one follows. */
const highSurrogate = /^\\u[dD][89abAB]/;
const lowSurrogate = /^\\u[dD][c-fC-F]/;
const escapeBytes = 6;

function* charactersIn(body: Buffer, { start, end }: JsonField): Generator<undefined, number, undefined> {
  let count = 0;
  let nextStop = start + bytesPerPiece;
  for (let at = start + 1; at < end - 1; at += 1) {
    if (at >= nextStop) {
      nextStop = at + bytesPerPiece;
      yield;
    }
    const byte = body[at] ?? 0;
    // Continuation bytes of UTF-8 do not count.
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
