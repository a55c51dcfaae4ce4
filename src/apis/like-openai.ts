/** Embeddings of client APIs that are OpenAI's with a few extra fields. */

import { Buffer } from 'node:buffer';
import { type Demand, type Entrance, refusedField } from '../core/client-api.ts';
import type { Purpose } from '../core/translation.ts';
import { Unfit, type VectorKind, vectorKinds } from '../core/translation.ts';
import { isVector } from '../families/wire-formats/reading.ts';
import { isJsonList, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { base64Of, embeddingsIn, floatsOf, noEmbeddings, tokensIn } from './canonical.ts';

interface Asked {
  readonly clientApi: string;
  readonly model: Json | undefined;
  /** Texts, or other inputs that a family supports. */
  readonly inputs: readonly Json[];
  readonly dimensions: Json | undefined;
  /** Numbers other than floats, and the field that asked for them. */
  readonly kind?: VectorKind | undefined;
  readonly kindField: string;
  readonly isBase64: boolean;
  readonly purpose?: Purpose | undefined;
  /** By its own field names, for upstreams of the same wire format. */
  readonly more: JsonObject;
  /** Of these, fields that no other upstream supports. */
  readonly demands?: readonly Demand[];
}

interface Made {
  readonly vectors: readonly Json[];
  readonly tokens: number;
  readonly id: string;
  readonly model: string;
}

/** Numbers other than floats, which only some upstreams support. */
export function kindOf(said: Json | undefined, field: string, model: Json | undefined): VectorKind | undefined {
  if (said === undefined || said === 'float') return undefined;
  const kind = vectorKinds.find((one) => one === said);
  if (kind !== undefined) return kind;
  throw refusedField(field, model, `it is one of float, ${vectorKinds.join(', ')}`);
}

/** A demand that only upstreams of the client's own wire format meet. */
export const ownOf = (clientApi: string, field: string, what: string): Demand => ({
  field,
  what,
  isMetBy: ({ speaks }) => speaks === clientApi,
});

/** A demand for whole texts without truncation. */
export const wholeTexts = (clientApi: string, field: string, cuts: Json | undefined): readonly Demand[] =>
  cuts === false ? [ownOf(clientApi, field, 'can be told to refuse what is too long')] : [];

export const vectorsOf = (field: string, kind: VectorKind | undefined): readonly Demand[] =>
  kind === undefined
    ? []
    : [{ field, what: `makes ${kind}`, isMetBy: ({ vectorKinds: made = [] }) => made.includes(kind) }];

export const asList = (input: Json | undefined): readonly Json[] =>
  isJsonList(input) ? input : input === undefined ? [] : [input];

export function entranceLikeOpenai(asked: Asked, write: (made: Made) => JsonObject): Entrance {
  const { clientApi, model, inputs, dimensions, kind, kindField, isBase64, purpose, more, demands = [] } = asked;
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
    ...(inputs.length === 0 && { atOnce: noEmbeddings }),
    write({ body: answer, id, model: name }) {
      const came = embeddingsIn(answer, inputs);
      const vectors = !isBase64 ? floatsOf(came) : kind === undefined ? base64Of(came) : came.map(bytesOf);
      return { body: write({ vectors, tokens: tokensIn(answer, inputs), id, model: name }) };
    },
  };
}

/** Integers of one byte each, signed or not. */
function bytesOf(vector: Json, index: number): Json {
  if (typeof vector === 'string') return vector;
  if (!isVector(vector)) throw new Unfit(`the vector of input ${index} holds no numbers`);
  return Buffer.from(vector.values().map((value) => value & 0xff)).toString('base64');
}

/** `data` in their common form. */
export const dataOf = (vectors: readonly Json[]): readonly JsonObject[] =>
  vectors.map((embedding, index) => ({ object: 'embedding', embedding, index }));
