/** Serves clients of Gemini's API: embeddings over every family, lists of models, and errors in Google's format. */

import {
  type ApiMapping,
  defineClientApi,
  type Entrance,
  type FixedEndpoint,
  refusedField,
  type SeenModel,
  wrongField,
} from '../core/client-api.ts';
import type { Label } from '../core/label.ts';
import { operationRows } from '../core/operations/index.ts';
import type { Purpose } from '../core/translation.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  JsonNumber,
  type JsonObject,
  numberOf,
  writeJson,
} from '../lib/json/json-text.ts';
import { embeddingsFor } from './canonical.ts';
import { pageOf, pageQuery } from './paging.ts';

const id = 'gemini';

const purposes: ReadonlyMap<Json, Purpose> = new Map<Json, Purpose>([
  ['RETRIEVAL_DOCUMENT', 'document'],
  ['RETRIEVAL_QUERY', 'query'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
]);

/** The value of a field, which Google's JSON spells `outputDimensionality` or `output_dimensionality`. */
const either = (object: JsonObject, name: string): Json | undefined =>
  object[name] ?? object[name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] ?? undefined;

/** The settings of a request for one vector, without its content. */
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

/** The request for the contents' vectors. All contents must have the same settings, because one upstream call has only one set. */
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
  const more = { title, ...(purpose === undefined && { taskType }) };
  return embeddingsFor(
    { clientApi: id, model: undefined, inputs: texts, dimensions: outputDimensionality, purpose, more },
    ({ vectors }) => write(vectors),
  );
}

const embedOne: ApiMapping = {
  operation: 'embeddings',
  paths: [
    '/v1beta/models/{model}:embedContent',
    '/v1/models/{model}:embedContent',
    '/v1beta/{model=tunedModels/*}:embedContent',
    '/v1/{model=tunedModels/*}:embedContent',
  ],
  required: { content: 'object' },
  summary: 'The vector of one content, in the format of the Gemini API.',
  enter: (body) =>
    entranceOf(
      [body],
      () => '',
      body.model,
      ([values]) => ({ embedding: { values } }),
    ),
};

const embedMany: ApiMapping = {
  operation: 'embeddings',
  paths: [
    '/v1beta/models/{model}:batchEmbedContents',
    '/v1/models/{model}:batchEmbedContents',
    '/v1beta/{model=tunedModels/*}:batchEmbedContents',
    '/v1/{model=tunedModels/*}:batchEmbedContents',
  ],
  required: { requests: 'object[]' },
  summary: 'The vectors of several contents, in the format of the Gemini API.',
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

const names = { size: 'pageSize', token: 'pageToken' };

const asListed = ({ id, operations, context }: SeenModel): Readonly<Record<string, unknown>> => ({
  name: id.startsWith('tunedModels/') ? id : `models/${id}`,
  displayName: id,
  ...(context !== undefined && { inputTokenLimit: context }),
  supportedGenerationMethods: operations.flatMap((operation) => operationRows[operation].listedAs?.methods ?? []),
});

const models: FixedEndpoint = {
  method: 'GET',
  paths: ['/v1beta/models', '/gemini/v1/models'],
  summary: "The visible models that the caller's key may use, in the format of the Gemini API.",
  query: pageQuery(names),
  show(view) {
    const { page, next } = pageOf(view.models, view, names);
    return { models: page.map(asListed), ...(next !== undefined && { nextPageToken: next }) };
  },
};

const oneModel: FixedEndpoint = {
  method: 'GET',
  paths: ['/v1beta/models/{model}', '/gemini/v1/models/{model}', '/v1beta/{model=tunedModels/*}'],
  summary: 'One model in the format of the Gemini API.',
  show: ({ find, modelInPath = '' }) => asListed(find(modelInPath)),
};

/** Names of statuses in Google's errors (google.rpc.Code). */
const words: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const wordFor = (status: number): string => words[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');

const type = 'type.googleapis.com/google.rpc';

const labels: readonly Label[] = ['gemini', 'interactions'];

export default defineClientApi({
  id,
  title: 'the Gemini API',
  prefix: '/gemini',
  labels,
  grounds: ['/v1beta/'],
  mappings: [embedOne, embedMany],
  fixedEndpoints: [models, oneModel],
  standsFor({ path, label }) {
    return labels.includes(label) ? [`/gemini${path}`, `/gemini${path.replace('/v1beta/', '/v1/')}`] : [];
  },
  error({ status, message, code, param, retryAfter }) {
    const details: JsonObject[] = [];
    if (code !== undefined) {
      const metadata = param === undefined || param === null ? {} : { metadata: { param } };
      details.push({ '@type': `${type}.ErrorInfo`, reason: code.toUpperCase(), domain: 'postern', ...metadata });
    }
    if (retryAfter !== undefined && /^\d+$/.test(retryAfter)) {
      details.push({ '@type': `${type}.RetryInfo`, retryDelay: `${retryAfter}s` });
    }
    return { error: { code: new JsonNumber(String(status)), message, status: wordFor(status), details } };
  },
});
