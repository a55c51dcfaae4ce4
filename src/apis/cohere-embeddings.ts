/** Converts embeddings of Cohere's client API, versions 1 and 2. */

import {
  type ApiMapping,
  type Demand,
  type Entrance,
  missingField,
  type Passage,
  refusedField,
  wrongField,
} from '../core/client-api.ts';
import { operationRows } from '../core/operations/index.ts';
import { inputTypes, type VectorKind, vectorKinds } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../lib/json/json-text.ts';
import { base64Of, embeddingsFor, ownOf } from './canonical.ts';

const types = ['float', 'base64', ...vectorKinds] as const;
type EmbeddingType = (typeof types)[number];

const id = 'cohere';

export function enterEmbed(version: '1' | '2', body: JsonObject, tokensHeader?: string): Entrance {
  const texts = textsIn(body);
  const wanted = typesIn(body);
  const kind = wanted?.find((one): one is VectorKind => one !== 'float' && one !== 'base64');
  const isBase64 = wanted !== undefined && wanted.length === 1 && wanted[0] === 'base64';
  const asked = {
    clientApi: id,
    model: body.model,
    inputs: texts,
    dimensions: body.output_dimension,
    kind,
    kindField: 'embedding_types',
    isBase64,
    purpose: inputTypes.get(body.input_type ?? null),
    more: { truncate: body.truncate, max_tokens: body.max_tokens },
    demands: demandsOf(body),
    asksForNothing: true,
    tokensHeader,
  } as const;
  return embeddingsFor(asked, ({ vectors, tokens, id }) => ({
    id,
    texts,
    embeddings: wanted === undefined ? vectors : byType(vectors, wanted),
    meta: { api_version: { version }, billed_units: { input_tokens: tokens() } },
    response_type: wanted === undefined ? 'embeddings_floats' : 'embeddings_by_type',
  }));
}

/** The requested types of vectors; undefined where the client wants a plain list, as in the first version. */
function typesIn({ embedding_types: named, model }: JsonObject): readonly EmbeddingType[] | undefined {
  if (named === undefined || !isJsonList(named)) return undefined;
  const wanted = named.map((one) => {
    const known = types.find((type) => type === one);
    if (known === undefined) throw refusedField('embedding_types', model, `it holds one of ${types.join(', ')}`);
    return known;
  });
  const isPlain = wanted.every((one) => one === 'float' || one === 'base64');
  if (isPlain || new Set(wanted).size === 1) return wanted.length === 0 ? ['float'] : wanted;
  throw refusedField('embedding_types', model, 'its upstreams make one type at a time, so ask for each by itself');
}

function byType(vectors: readonly Json[], wanted: readonly EmbeddingType[]): JsonObject {
  return Object.fromEntries(wanted.map((one) => [one, one === 'base64' ? base64Of(vectors) : vectors]));
}

function demandsOf({ truncate, max_tokens: most }: JsonObject): readonly Demand[] {
  const demands: Demand[] = [];
  if (truncate !== undefined && truncate !== 'END') {
    demands.push(ownOf(id, 'truncate', 'can be told what to do with texts that are too long'));
  }
  if (most !== undefined) demands.push(ownOf(id, 'max_tokens', 'can be told how much to read of a text'));
  return demands;
}

/** The texts to embed, which the two versions have under different names. */
function textsIn({ texts, inputs, images, model }: JsonObject): readonly Json[] {
  if (isJsonList(images) && images.length > 0) throw refusedField('images', model, 'texts alone are embedded here');
  if (texts !== undefined && inputs !== undefined) {
    throw refusedField('inputs', model, 'texts stand beside them; send one of the two');
  }
  const list = texts ?? inputs;
  if (isJsonList(list)) return texts === undefined ? list.map((input, index) => textOf(input, index, model)) : list;
  throw missingField('texts', 'an array of strings');
}

function textOf(input: Json, index: number, model: Json | undefined): string {
  const content = isJsonObject(input) ? input.content : undefined;
  if (typeof content === 'string') return content;
  const parts = isJsonList(content) ? content : [];
  const texts = parts.map((part) => {
    if (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string') return part.text;
    throw refusedField(`inputs[${index}].content`, model, 'texts alone are embedded here');
  });
  if (texts.length > 0) return texts.join('\n');
  throw wrongField(`inputs[${index}]`, 'an object with parts of text under "content"', 'something else came');
}

/** Passes the client's bytes through where all upstreams are Cohere's: images, and integer vectors together with another type. */
const passesAs = (label: 'cohere' | 'cohere_v1'): Passage => ({
  label,
  needsAll: true,
  holds: {
    images: (list) => list.includes('"'),
    inputs: (list) => list.includes('"image_url"'),
    embedding_types: (list) => list.includes(',') && /int8|binary/.test(list.toString('latin1')),
  },
  row: { ...operationRows.embeddings, items: ['texts', 'images', 'inputs'] },
});

const fields = { texts: 'string[]', images: 'array', embedding_types: 'string[]', input_type: 'string' };
const others = ['priority', 'max_tokens', 'truncate', 'inputs', 'output_dimension'];

export const embedV1: ApiMapping = {
  operation: 'embeddings',
  paths: ['/v1/embed', '/v1/v1/embed'],
  optional: { ...fields, truncate: 'string' },
  watched: others,
  summary: "Embeddings in Cohere's v1 format.",
  passes: passesAs('cohere_v1'),
  enter: ({ inputs: _inputs, output_dimension: _width, max_tokens: _most, ...body }) => enterEmbed('1', body),
};

export const embedV2: ApiMapping = {
  operation: 'embeddings',
  // Cohere's clients append their own version to a base URL that may have one.
  paths: ['/v2/embed', '/v1/v2/embed'],
  optional: { ...fields, truncate: 'string', inputs: 'object[]', output_dimension: 'number', max_tokens: 'number' },
  watched: others,
  summary: "Embeddings in Cohere's v2 format.",
  passes: passesAs('cohere'),
  enter: (body) => enterEmbed('2', { embedding_types: ['float'], ...body }),
};
