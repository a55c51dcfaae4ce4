/** Converts embeddings and rerank between client APIs and the gateway's operations; numbers keep the digits that the upstream wrote. */

import { Buffer } from 'node:buffer';
import { type ApiAnswer, type Demand, type Entrance, refusedField } from '../core/client-api.ts';
import type { GatewayError } from '../core/errors.ts';
import { type Purpose, Unfit, type VectorKind, vectorKinds } from '../core/translation.ts';
import { inFormat, widthOf } from '../families/wire-formats/embeddings/vectors.ts';
import { at, byIndex, countIn, isVector, listIn, objectIn } from '../families/wire-formats/reading.ts';
import { isJsonList, type Json, type JsonNumbers, type JsonObject, numberOf } from '../lib/json/json-text.ts';
import { estimateTokens } from '../lib/token-ids.ts';

interface AskedEmbeddings {
  readonly clientApi: string;
  readonly model: Json | undefined;
  /** The items to embed: texts, or other inputs that a family supports. */
  readonly inputs: readonly Json[];
  readonly dimensions?: Json | undefined;
  /** The requested kind of numbers where it is not floats; below it, the field that asked for it. */
  readonly kind?: VectorKind | undefined;
  readonly kindField?: string;
  readonly isBase64?: boolean;
  readonly purpose?: Purpose | undefined;
  /** Further fields of the client's API, which go only to upstreams of the same wire format. */
  readonly more?: JsonObject;
  /** Which of the fields in `more` must be obeyed, so that no other upstream can serve the request. */
  readonly demands?: readonly Demand[];
  /** True where an empty list of inputs goes to an upstream, which refuses it; by default the gateway answers it with an empty list. */
  readonly asksForNothing?: true;
  readonly tokensHeader?: string | undefined;
}

interface MadeEmbeddings extends Pick<ApiAnswer, 'id' | 'model' | 'tookMs'> {
  readonly vectors: readonly Json[];
  tokens(): number;
}

/** Converts a request for embeddings of any client API to the gateway's operation, and its answer back by `write`. */
export function embeddingsFor(asked: AskedEmbeddings, write: (made: MadeEmbeddings) => Json): Entrance {
  const { clientApi, model, inputs, dimensions, kind, kindField = '', isBase64 = false, purpose, more = {} } = asked;
  const { demands = [], asksForNothing = false, tokensHeader } = asked;
  return {
    body: {
      model,
      input: inputs,
      dimensions,
      output_dtype: kind,
      encoding_format: isBase64 && kind === undefined ? 'base64' : 'float',
    },
    words: { clientApi, purpose, more },
    demands: [...vectorsOf(kindField, kind), ...demands],
    ...(inputs.length === 0 && !asksForNothing && { atOnce: noEmbeddings }),
    write({ body, id, model: name, tookMs }) {
      const came = embeddingsIn(body, inputs);
      const vectors = !isBase64 ? floatsOf(came) : kind === undefined ? base64Of(came) : came.map(bytesOf);
      const tokens = (): number => tokensIn(body, inputs);
      const written = { body: write({ vectors, tokens, id, model: name, tookMs }) };
      return tokensHeader === undefined ? written : { ...written, headers: [tokensHeader, String(tokens())] };
    },
  };
}

const noEmbeddings = { data: [], usage: { prompt_tokens: 0, total_tokens: 0 } };

/** Vectors as OpenAI's `data`, the form that most client APIs have. */
export const dataOf = (vectors: readonly Json[]): readonly JsonObject[] =>
  vectors.map((embedding, index) => ({ object: 'embedding', embedding, index }));

export const asList = (input: Json | undefined): readonly Json[] =>
  isJsonList(input) ? input : input === undefined ? [] : [input];

/** The element of a list with exactly one; undefined for anything else. */
export function onlyOf(list: Json | undefined): Json | undefined {
  return isJsonList(list) && list.length === 1 ? list[0] : undefined;
}

/** The text of each element of a list; throws the fault where the list is missing or an element has no text. */
export const textsOf = (
  list: Json | undefined,
  textOf: (element: Json, index: number) => Json | undefined,
  fault: (index: number) => GatewayError,
): readonly string[] =>
  (isJsonList(list) ? list : []).map((element, index) => {
    const text = textOf(element, index);
    if (typeof text === 'string') return text;
    throw fault(index);
  });

/** The requested kind of numbers where it is not floats: only some upstreams support others. */
export function kindOf(said: Json | undefined, field: string, model: Json | undefined): VectorKind | undefined {
  if (said === undefined || said === 'float') return undefined;
  const kind = vectorKinds.find((one) => one === said);
  if (kind !== undefined) return kind;
  throw refusedField(field, model, `it is one of float, ${vectorKinds.join(', ')}`);
}

/** Whether the client asks for vectors as base64. `plain`: the client API's word for lists of numbers, where it has one. */
export function isBase64In(format: Json | undefined, model: Json | undefined, plain?: 'float'): boolean {
  if (format === undefined || format === plain) return false;
  if (format === 'base64') return true;
  throw refusedField('encoding_format', model, plain === undefined ? 'it is base64, or none' : 'it is float or base64');
}

/** A demand that only upstreams with the client API's own wire format meet. */
export const ownOf = (clientApi: string, field: string, what: string): Demand => ({
  field,
  what,
  isMetBy: ({ speaks }) => speaks === clientApi,
});

/** The demand that no text is truncated, where `cuts` is false. */
export const wholeTexts = (clientApi: string, field: string, cuts: Json | undefined): readonly Demand[] =>
  cuts === false ? [ownOf(clientApi, field, 'can be told to refuse what is too long')] : [];

const vectorsOf = (field: string, kind: VectorKind | undefined): readonly Demand[] =>
  kind === undefined
    ? []
    : [{ field, what: `makes ${kind}`, isMetBy: ({ vectorKinds: made = [] }) => made.includes(kind) }];

/** The vectors of an answer, one for each text, unchanged: lists of numbers, or base64 where that was requested. */
function embeddingsIn(body: Json, texts: readonly Json[]): readonly Json[] {
  const data = listIn(objectIn(body, 'the answer').data, 'data');
  const isNumbered = data.every((element) => numberOf(at(element, 'index')) !== undefined);
  const ordered = isNumbered ? byIndex(data, 'index', 'an element of data') : data;
  if (ordered.length !== texts.length) throw new Unfit(`${ordered.length} vectors for ${texts.length} inputs`);
  return ordered.map((element) => at(element, 'embedding') ?? null);
}

/** Vectors as lists of numbers: base64 is decoded, other vectors keep their digits. */
export function floatsOf(vectors: readonly Json[]): readonly JsonNumbers[] {
  return vectors.map((vector, index) => {
    if (isVector(vector)) return vector;
    widthOf(vector, index);
    const read = inFormat(vector, 'float');
    if (!isVector(read)) throw new Unfit(`the vector of input ${index} holds no numbers`);
    return read;
  });
}

/** Vectors as base64 of little-endian 32-bit floats. */
export function base64Of(vectors: readonly Json[]): readonly Json[] {
  return vectors.map((vector, index) => {
    widthOf(vector, index);
    return inFormat(vector, 'base64');
  });
}

/** A vector of one-byte integers, signed or not, as base64. */
function bytesOf(vector: Json, index: number): Json {
  if (typeof vector === 'string') return vector;
  if (!isVector(vector)) throw new Unfit(`the vector of input ${index} holds no numbers`);
  return Buffer.from(vector.values().map((value) => value & 0xff)).toString('base64');
}

function tokensIn(body: Json, texts: readonly Json[]): number {
  const usage = at(body, 'usage');
  const counted = countIn(at(usage, 'prompt_tokens')) || countIn(at(usage, 'total_tokens'));
  return counted ?? texts.reduce<number>((sum, text) => sum + (typeof text === 'string' ? estimateTokens(text) : 1), 0);
}

interface ScoredIndex {
  readonly index: number;
  readonly score: Json;
}

/** The scores of a rerank answer, in its order, which is best first. `wanted`: one for every document, or any number. */
export function scoresIn(
  body: Json,
  documents: readonly string[],
  wanted: 'all' | 'any' = 'all',
): readonly ScoredIndex[] {
  const list = isJsonList(body) ? body : listIn(at(body, 'results'), 'results');
  const scored = list.map((one) => {
    const index = countIn(at(one, 'index'));
    const score = at(one, 'relevance_score') ?? at(one, 'score');
    if (index === undefined || index >= documents.length) throw new Unfit('a result is of no document');
    if (score === undefined || numberOf(score) === undefined) throw new Unfit('a result has no score');
    return { index, score };
  });
  const known = new Set(scored.map(({ index }) => index)).size;
  if (known !== scored.length || (wanted === 'all' && known !== documents.length)) {
    throw new Unfit(`${scored.length} results for ${documents.length} documents`);
  }
  return scored;
}

/** The count of input tokens that a rerank answer reports, else an estimate: the query counts with each document. */
export function rerankTokensIn(body: Json, query: string, documents: readonly string[]): number {
  const usage = isJsonList(body) ? undefined : at(body, 'usage');
  const counted = countIn(at(usage, 'total_tokens')) || countIn(at(usage, 'prompt_tokens'));
  const each = estimateTokens(query);
  return counted ?? documents.reduce((sum, document) => sum + each + estimateTokens(document), 0);
}
