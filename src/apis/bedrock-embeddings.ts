/** Embeddings in AWS Bedrock's client API: one method, with the fields of each model vendor. */

import { type Entrance, refusedField, wrongField } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import type { Purpose } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, numberOf } from '../lib/json/json-text.ts';
import { tokensIn } from './canonical.ts';
import { enterEmbed } from './cohere-embeddings.ts';
import { asList, entranceLikeOpenai } from './like-openai.ts';

/** Fields that distinguish the vendors, with all fields of an embeddings body. */
export const embeddingFields = {
  inputText: 'string',
  dimensions: 'number',
  normalize: 'boolean',
  embeddingTypes: 'string[]',
  embeddingConfig: 'object',
  taskType: 'string',
  singleEmbeddingParams: 'object',
  texts: 'string[]',
  inputs: 'object[]',
  images: 'array',
  input_type: 'string',
  embedding_types: 'string[]',
  output_dimension: 'number',
  max_tokens: 'number',
  truncate: 'string',
} as const;

export function enterEmbeddings(body: JsonObject): Entrance {
  if (body.inputText !== undefined || body.inputImage !== undefined) return counted(enterTitan(body));
  if (body.singleEmbeddingParams !== undefined || body.taskType !== undefined) return counted(enterNova(body));
  if (['texts', 'inputs', 'images'].some((name) => body[name] !== undefined)) {
    return counted(enterEmbed('1', { ...body, truncate: cutting.get(body.truncate ?? null) ?? body.truncate }));
  }
  throw new GatewayError('missing_required_parameter', {
    param: 'inputText',
    message:
      'The body asks for nothing that is known here; send "inputText" (Titan), "singleEmbeddingParams" (Nova), "texts" (Cohere), or "query" with "documents" to rerank.',
  });
}

/** The third generation of Cohere's models has its own words on Bedrock (unverified). */
const cutting: ReadonlyMap<Json, string> = new Map<Json, string>([
  ['RIGHT', 'END'],
  ['LEFT', 'START'],
]);

/** Adds the token count in a header, as Cohere's models do. */
function counted(entrance: Entrance): Entrance {
  const texts = asList(entrance.body.input);
  return {
    ...entrance,
    async write(answer) {
      const written = await entrance.write(answer);
      return { ...written, headers: ['x-amzn-bedrock-input-token-count', String(tokensIn(answer.body, texts))] };
    },
  };
}

function enterTitan(body: JsonObject): Entrance {
  const { inputText = '', dimensions, normalize, embeddingTypes: types, embeddingConfig: config, model } = body;
  if (body.inputImage !== undefined) throw refusedField('inputImage', model, 'texts alone are embedded here');
  if (asList(types).some((type) => type !== 'float')) {
    throw refusedField('embeddingTypes', model, 'it is float: vectors of bits come by other paths');
  }
  const width = isJsonObject(config) ? config.outputEmbeddingLength : undefined;
  checkNumber(width, 'embeddingConfig.outputEmbeddingLength');
  return entranceLikeOpenai(
    {
      ...oneText,
      clientApi: 'titan',
      model,
      inputs: [inputText],
      dimensions: dimensions ?? width,
      more: { normalize },
    },
    ({ vectors: [embedding = []], tokens }) => ({
      embedding,
      ...(isJsonList(types) && { embeddingsByType: { float: embedding } }),
      inputTextTokenCount: tokens,
    }),
  );
}

const purposes: ReadonlyMap<Json, Purpose> = new Map<Json, Purpose>([
  ['GENERIC_INDEX', 'document'],
  ['GENERIC_RETRIEVAL', 'query'],
  ['TEXT_RETRIEVAL', 'query'],
  ['DOCUMENT_RETRIEVAL', 'query'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
]);

function enterNova({ taskType, singleEmbeddingParams: params, model }: JsonObject): Entrance {
  if (taskType !== undefined && taskType !== 'SINGLE_EMBEDDING') {
    throw refusedField('taskType', model, 'it is SINGLE_EMBEDDING');
  }
  const at = 'singleEmbeddingParams';
  const asked = isJsonObject(params) ? params : {};
  const { text, embeddingDimension: dimensions, embeddingPurpose } = asked;
  const other = ['image', 'audio', 'video'].find((name) => asked[name] !== undefined);
  if (other !== undefined) throw refusedField(`${at}.${other}`, model, 'texts alone are embedded here');
  const { value, truncationMode: cut = 'END' } = isJsonObject(text) ? text : {};
  if (typeof value !== 'string') throw wrongField(`${at}.text.value`, 'a string');
  if (cut !== 'END') throw refusedField(`${at}.text.truncationMode`, model, 'what is too long is cut at its end');
  checkNumber(dimensions, `${at}.embeddingDimension`);
  const purpose = purposes.get(embeddingPurpose ?? null);
  const more = { embeddingPurpose: purpose === undefined ? embeddingPurpose : undefined };
  return entranceLikeOpenai(
    { ...oneText, clientApi: 'nova', model, inputs: [value], dimensions, purpose, more },
    ({ vectors: [embedding = []], tokens }) => ({
      embeddings: [{ embeddingType: 'TEXT', embedding }],
      inputTokenCount: tokens,
    }),
  );
}

const oneText = { kindField: 'embeddingTypes', isBase64: false } as const;

function checkNumber(value: Json | undefined, field: string): void {
  if (value === undefined || value === null || numberOf(value) !== undefined) return;
  throw wrongField(field, 'a number', 'something else came');
}
