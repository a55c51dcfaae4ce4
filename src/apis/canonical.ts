/** An embeddings response as client APIs need it: vectors in input order, in the upstream's digits, with usage. */

import { Unfit } from '../core/translation.ts';
import { inFormat, widthOf } from '../families/wire-formats/embeddings/vectors.ts';
import { at, byIndex, countIn, isVector, listIn, objectIn } from '../families/wire-formats/reading.ts';
import { type Json, type JsonNumbers, numberOf } from '../lib/json/json-text.ts';
import { estimateTokens } from '../lib/token-ids.ts';

/** Unchanged: lists of numbers, or base64 where requested. One for each text. */
export function embeddingsIn(body: Json, texts: readonly Json[]): readonly Json[] {
  const data = listIn(objectIn(body, 'the answer').data, 'data');
  const isNumbered = data.every((element) => numberOf(at(element, 'index')) !== undefined);
  const ordered = isNumbered ? byIndex(data, 'index', 'an element of data') : data;
  if (ordered.length !== texts.length) throw new Unfit(`${ordered.length} vectors for ${texts.length} inputs`);
  return ordered.map((element) => at(element, 'embedding') ?? null);
}

/** As lists of numbers. Base64 is decoded; other vectors keep their digits. */
export function floatsOf(vectors: readonly Json[]): readonly JsonNumbers[] {
  return vectors.map((vector, index) => {
    if (isVector(vector)) return vector;
    widthOf(vector, index);
    const read = inFormat(vector, 'float');
    if (!isVector(read)) throw new Unfit(`the vector of input ${index} holds no numbers`);
    return read;
  });
}

/** As base64 of little-endian 32-bit floats. */
export function base64Of(vectors: readonly Json[]): readonly Json[] {
  return vectors.map((vector, index) => {
    widthOf(vector, index);
    return inFormat(vector, 'base64');
  });
}

/** The reported count of input tokens, or else an estimate. */
export function tokensIn(body: Json, texts: readonly Json[]): number {
  const usage = at(body, 'usage');
  const counted = countIn(at(usage, 'prompt_tokens')) || countIn(at(usage, 'total_tokens'));
  return counted ?? texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? estimateTokens(text) : 1), 0);
}

export const noEmbeddings = { data: [], usage: { prompt_tokens: 0, total_tokens: 0 } };
