/** Embeddings in the Gemini client API, for models at upstreams with another wire format. */

import { type ApiMapping, type Entrance, refusedField, wrongField } from '../core/client-api.ts';
import type { Purpose } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, numberOf, writeJson } from '../lib/json/json-text.ts';
import { embeddingsIn, floatsOf, noEmbeddings } from './canonical.ts';

const id = 'gemini';

const purposes: ReadonlyMap<Json, Purpose> = new Map<Json, Purpose>([
  ['RETRIEVAL_DOCUMENT', 'document'],
  ['RETRIEVAL_QUERY', 'query'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
]);

/** Google's JSON has two spellings for every name. */
const either = (object: JsonObject, name: string): Json | undefined =>
  object[name] ?? object[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined;

/** Settings of the vector beside the content. */
function wishesIn(asked: JsonObject): JsonObject {
  const config = either(asked, 'embedContentConfig');
  const objects = isJsonObject(config) ? [asked, config] : [asked];
  const named = (name: string) => objects.map((object) => either(object, name)).find((value) => value !== undefined);
  return {
    taskType: named('taskType'),
    title: named('title'),
    outputDimensionality: named('outputDimensionality'),
    autoTruncate: named('autoTruncate'),
  };
}

/** A content is one text of any number of parts. */
function textIn(content: Json | undefined, field: string, model: Json | undefined): string {
  const { parts } = isJsonObject(content) ? content : {};
  const list = isJsonList(parts) ? parts : isJsonObject(parts) ? [parts] : [];
  if (list.length === 0) throw wrongField(`${field}.parts`, 'an array of parts, each with a "text"');
  return list
    .map((part, index) => {
      if (isJsonObject(part) && typeof part.text === 'string') return part.text;
      throw refusedField(`${field}.parts[${index}]`, model, 'its upstreams embed texts alone');
    })
    .join('\n');
}

const isSame = (one: Json, other: Json): boolean => one === other || writeJson(one).equals(writeJson(other));

/** Several contents may have different settings, but one call has one set. */
function entranceOf(
  asked: readonly JsonObject[],
  fieldOf: (index: number) => string,
  model: Json | undefined,
  write: (vectors: readonly Json[]) => JsonObject,
): Entrance {
  const texts = asked.map(({ content }, index) => textIn(content, `${fieldOf(index)}content`, model));
  const [wishes = {}, ...others] = asked.map(wishesIn);
  for (const [index, other] of others.entries()) {
    const differing = Object.keys(wishes).find((name) => !isSame(wishes[name] ?? null, other[name] ?? null));
    if (differing !== undefined) {
      throw refusedField(`${fieldOf(index + 1)}${differing}`, model, 'it must be the same in all requests of a batch');
    }
  }
  const { taskType, title, outputDimensionality, autoTruncate } = wishes;
  if (outputDimensionality !== undefined && numberOf(outputDimensionality) === undefined) {
    throw wrongField(`${fieldOf(0)}outputDimensionality`, 'a number', 'something else came');
  }
  if (autoTruncate === false) {
    throw refusedField(`${fieldOf(0)}autoTruncate`, model, 'its upstreams cannot be told to refuse what is too long');
  }
  const purpose = purposes.get(taskType ?? null);
  return {
    body: { input: texts, dimensions: outputDimensionality, encoding_format: 'float' },
    words: { clientApi: id, purpose, more: { title, ...(purpose === undefined && { taskType }) } },
    ...(texts.length === 0 && { atOnce: noEmbeddings }),
    write: ({ body: answer }) => ({
      body: write(floatsOf(embeddingsIn(answer, texts))),
    }),
  };
}

export const embedOne: ApiMapping = {
  operation: 'embeddings',
  paths: [
    '/v1beta/models/{model}:embedContent',
    '/v1/models/{model}:embedContent',
    '/v1beta/{model=tunedModels/*}:embedContent',
    '/v1/{model=tunedModels/*}:embedContent',
  ],
  required: { content: 'object' },
  summary: 'The vector of one content, as clients of the Gemini API ask for it.',
  enter: (body) =>
    entranceOf(
      [body],
      () => '',
      body.model,
      ([values]) => ({ embedding: { values } }),
    ),
};

export const embedMany: ApiMapping = {
  operation: 'embeddings',
  paths: [
    '/v1beta/models/{model}:batchEmbedContents',
    '/v1/models/{model}:batchEmbedContents',
    '/v1beta/{model=tunedModels/*}:batchEmbedContents',
    '/v1/{model=tunedModels/*}:batchEmbedContents',
  ],
  required: { requests: 'object[]' },
  summary: 'The vectors of several contents, as clients of the Gemini API ask for them.',
  enter({ requests }) {
    const asked = (isJsonList(requests) ? requests : []).filter(isJsonObject);
    return entranceOf(
      asked,
      (index) => `requests[${index}].`,
      asked[0]?.model,
      (vectors) => ({ embeddings: vectors.map((values) => ({ values })) }),
    );
  },
};
