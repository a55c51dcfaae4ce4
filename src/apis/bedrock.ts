/** Serves clients of AWS Bedrock's API: embeddings in each model vendor's format, and rerank. Clients send a gateway key, no signature. */

import { type ApiMapping, defineClientApi, type Entrance, refusedField, wrongField } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import type { Purpose } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json, type JsonObject, numberOf, writeJson } from '../lib/json/json-text.ts';
import { asList, embeddingsFor, scoresIn } from './canonical.ts';
import { enterEmbed } from './cohere-embeddings.ts';

const tokensHeader = 'x-amzn-bedrock-input-token-count';

/** The fields of an embeddings body of any vendor; which of them are present tells the vendor. */
const embeddingFields = {
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

function enterEmbeddings(body: JsonObject): Entrance {
  if (body.inputText !== undefined || body.inputImage !== undefined) return enterTitan(body);
  if (body.singleEmbeddingParams !== undefined || body.taskType !== undefined) return enterNova(body);
  if (['texts', 'inputs', 'images'].some((name) => body[name] !== undefined)) {
    return enterEmbed('1', { ...body, truncate: cutting.get(body.truncate ?? null) ?? body.truncate }, tokensHeader);
  }
  throw new GatewayError('missing_required_parameter', {
    param: 'inputText',
    message:
      'The body has no known input; send "inputText" (Titan), "singleEmbeddingParams" (Nova), "texts" (Cohere), or "query" with "documents" to rerank.',
  });
}

/** Words for `truncate` on Bedrock in the third generation of Cohere's models, and the usual words (unverified). */
const cutting: ReadonlyMap<Json, string> = new Map<Json, string>([
  ['RIGHT', 'END'],
  ['LEFT', 'START'],
]);

function enterTitan(body: JsonObject): Entrance {
  const { inputText = '', dimensions, normalize, embeddingTypes: types, embeddingConfig: config, model } = body;
  if (body.inputImage !== undefined) throw refusedField('inputImage', model, 'texts alone are embedded here');
  if (asList(types).some((type) => type !== 'float')) {
    throw refusedField('embeddingTypes', model, 'it is float: vectors of bits come by other paths');
  }
  const width = isJsonObject(config) ? config.outputEmbeddingLength : undefined;
  checkNumber(width, 'embeddingConfig.outputEmbeddingLength');
  const asked = {
    clientApi: 'titan',
    model,
    inputs: [inputText],
    dimensions: dimensions ?? width,
    more: { normalize },
  };
  return embeddingsFor({ ...asked, tokensHeader }, ({ vectors: [embedding = []], tokens }) => ({
    embedding,
    ...(isJsonList(types) && { embeddingsByType: { float: embedding } }),
    inputTextTokenCount: tokens(),
  }));
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
  return embeddingsFor(
    { clientApi: 'nova', model, inputs: [value], dimensions, purpose, more, tokensHeader },
    ({ vectors: [embedding = []], tokens }) => ({
      embeddings: [{ embeddingType: 'TEXT', embedding }],
      inputTokenCount: tokens(),
    }),
  );
}

function checkNumber(value: Json | undefined, field: string): void {
  if (value === undefined || value === null || numberOf(value) !== undefined) return;
  throw wrongField(field, 'a number', 'something else came');
}

interface Ranking {
  readonly model: Json | undefined;
  readonly query: Json | undefined;
  readonly documents: readonly string[];
  readonly most: Json | undefined;
  /** The answer's name for a score. */
  readonly scored: 'relevance_score' | 'relevanceScore';
}

function entranceOf({ model, query, documents, most, scored }: Ranking): Entrance {
  return {
    body: { model, query, documents, top_n: most },
    words: { clientApi: 'bedrock', more: {} },
    ...(documents.length === 0 && { atOnce: { results: [] } }),
    write({ body: answer }) {
      const results = scoresIn(answer, documents, 'any').map(({ index, score }) => ({ index, [scored]: score }));
      return { body: { results } };
    },
  };
}

function documentIn(document: Json, index: number): string {
  const text = isJsonObject(document) ? document.text : document;
  if (typeof text === 'string') return text;
  throw wrongField(`documents[${index}]`, 'a string, or an object with one under "text"');
}

const invokeRerank: ApiMapping = {
  operation: 'rerank',
  paths: ['/model/{model}/invoke'],
  summary: "Rerank in the format of AWS Bedrock's InvokeModel.",
  enter({ model, query, documents, top_n: most }) {
    if (!isJsonList(documents)) throw wrongField('documents', 'an array of strings');
    return entranceOf({ model, query, documents: documents.map(documentIn), most, scored: 'relevance_score' });
  },
};

const invoke: ApiMapping = {
  operation: 'embeddings',
  paths: ['/model/{model}/invoke'],
  optional: { ...embeddingFields, query: 'string', documents: 'array', top_n: 'number', api_version: 'number' },
  watched: ['inputImage'],
  summary: 'Embeddings, or rerank if the body has `query`, in the format of InvokeModel of AWS Bedrock.',
  instead: { mapping: invokeRerank, isMeant: ({ has }) => has('query') },
  enter: enterEmbeddings,
};

const configurationAt = 'rerankingConfiguration.bedrockRerankingConfiguration';

/** Rerank of Bedrock's agents, where the body has the model, by its ARN. */
const rerank: ApiMapping = {
  operation: 'rerank',
  paths: ['/bedrock/rerank'],
  required: { queries: 'object[]', sources: 'object[]', rerankingConfiguration: 'object' },
  watched: ['nextToken'],
  summary: "Rerank in the format of AWS Bedrock's agents.",
  enter({ queries, sources, rerankingConfiguration: configuration, nextToken }) {
    const { bedrockRerankingConfiguration: asked } = isJsonObject(configuration) ? configuration : {};
    const { modelConfiguration, numberOfResults: most } = isJsonObject(asked) ? asked : {};
    const { modelArn: model, additionalModelRequestFields: more } = isJsonObject(modelConfiguration)
      ? modelConfiguration
      : {};
    const modelAt = `${configurationAt}.modelConfiguration`;
    if (typeof model !== 'string') throw wrongField(`${modelAt}.modelArn`, 'a string');
    if (isJsonObject(more) && Object.keys(more).length > 0) {
      throw refusedField(`${modelAt}.additionalModelRequestFields`, model, 'it must be empty here');
    }
    if (nextToken !== undefined) throw refusedField('nextToken', model, 'all results come in one answer');
    const [query, ...others] = isJsonList(queries) ? queries : [];
    if (others.length > 0) throw refusedField('queries', model, 'there is one query in a request');
    return entranceOf({
      model,
      query: textOf(isJsonObject(query) ? query.textQuery : undefined, 'queries[0].textQuery'),
      documents: (isJsonList(sources) ? sources : []).map(sourceIn),
      most,
      scored: 'relevanceScore',
    });
  },
};

function textOf(value: Json | undefined, field: string): string {
  const text = isJsonObject(value) ? value.text : undefined;
  if (typeof text === 'string') return text;
  throw wrongField(`${field}.text`, 'a string');
}

function sourceIn(source: Json, index: number): string {
  const at = `sources[${index}].inlineDocumentSource`;
  const document = isJsonObject(source) ? source.inlineDocumentSource : undefined;
  const { textDocument, jsonDocument } = isJsonObject(document) ? document : {};
  if (isJsonObject(jsonDocument)) return writeJson(jsonDocument).toString();
  return textOf(textDocument, `${at}.textDocument`);
}

const types: Readonly<Record<number, string>> = {
  401: 'UnrecognizedClientException',
  402: 'ServiceQuotaExceededException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException',
};

function typeOf(status: number): string {
  return types[status] ?? (status < 500 ? 'ValidationException' : 'InternalServerException');
}

export default defineClientApi({
  id: 'bedrock',
  title: 'AWS Bedrock',
  prefix: '/bedrock',
  grounds: ['/model/'],
  mappings: [invoke, rerank],
  // Bedrock's clients may send the body without a content type.
  takesAnyMediaType: true,
  otherNames(name) {
    // An ARN ends with the model, or with a profile of it, prefixed by a region.
    const id = name.slice(name.lastIndexOf('/') + 1);
    return [id, id.replace(/^[a-z]+\.(?=[a-z\d-]+\.)/, '')];
  },
  error: ({ status, message }) => ({ __type: typeOf(status), message }),
});
