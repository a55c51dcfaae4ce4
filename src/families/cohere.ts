/** Declares Cohere as an upstream family: embeddings in Cohere's own format, rerank in the format that clients use. */

import { bearer, defineFamily } from '../core/family.ts';
import { type Asked, vectorKinds } from '../core/translation.ts';
import type { Json } from '../lib/json/json-text.ts';
import {
  cohereInputTypes,
  type EmbeddingWireFormat,
  translateEmbeddings,
} from './wire-formats/embeddings/embeddings.ts';
import { listAt, operationsFor } from './wire-formats/model-lists.ts';
import { at, countIn, listIn, objectIn } from './wire-formats/reading.ts';
import { standardRerank } from './wire-formats/rerank/standard-rerank.ts';

/** Matches models of the second and third generation, whose vectors have a fixed width. */
const ofOneWidth = /-v[23]\.\d/;

const textsOnly = 'takes texts alone here, as "input"';

const embeddings: EmbeddingWireFormat = {
  limits: { items: 96 },
  hasDimensions: ({ model, options }) => options.api_version !== 'v1' && !ofOneWidth.test(model),
  own: ['input_type', 'truncate', 'max_tokens', 'priority', 'output_dtype'],
  speaks: 'cohere',
  purposes: cohereInputTypes,
  cannot: {
    embedding_types: 'is asked for floats here ("encoding_format" has "base64", too)',
    texts: textsOnly,
    images: textsOnly,
    inputs: textsOnly,
  },
  write: ({ items, model, dimensions, more: { output_dtype: kind, ...more }, asked }) => ({
    body: {
      input_type: 'search_document',
      ...more,
      model,
      texts: items,
      embedding_types: [numbersOf(kind, asked)],
      ...(dimensions !== undefined && { output_dimension: dimensions }),
    },
  }),
  read({ body }, { more, asked }) {
    const { id, embeddings: made, meta } = objectIn(body, 'the answer');
    return {
      beside: { id },
      vectors: listIn(at(made, numbersOf(more.output_dtype, asked)) ?? made, 'embeddings'),
      promptTokens: countIn(at(meta, 'billed_units', 'input_tokens')),
    };
  },
};

/** The kind of numbers to request for the vectors; one answer has one kind. */
function numbersOf(kind: Json | undefined, asked: Asked): string {
  if (kind === undefined || kind === 'float') return 'float';
  const known = vectorKinds.find((one) => one === kind);
  if (known === undefined) throw asked.refusal('output_dtype', `makes float, ${vectorKinds.join(', ')}`);
  return known;
}

const rerank = {
  // Fewer than 10,000 chunks in a call, 10 to a document unless the client sets another number.
  v1: standardRerank({
    speaks: 'cohere',
    own: ['rank_fields', 'max_chunks_per_doc'],
    takesObjects: 'documents',
    maxItems: 999,
    refusesNull: ['top_n', 'return_documents', 'rank_fields'],
  }),
  v2: standardRerank({
    speaks: 'cohere',
    own: ['max_tokens_per_doc', 'priority'],
    echoes: 'never',
    maxItems: 10_000,
    refusesNull: ['top_n', 'return_documents', 'max_tokens_per_doc'],
  }),
};

const embedFacts = 'bytes pass, for its own clients that send images, mixed inputs, or several `embedding_types`';
const chatFacts = 'bytes pass, and streams, for its own clients';

export default defineFamily({
  id: 'cohere',
  title: 'Cohere',
  baseUrl: 'https://api.cohere.com',
  versions: ['/v1', '/v2'],
  auth: bearer(),
  options: {
    api_version: { description: 'The version of its API: v2 or v1.', values: ['v2', 'v1'], default: 'v2' },
  },
  starter: {
    apiKeyEnv: 'COHERE_API_KEY',
    models: [
      { id: 'embed-v4.0', operations: ['embeddings'] },
      { id: 'rerank-v3.5', operations: ['rerank'] },
    ],
  },
  // 498: a deny-listed token; 499: the call was cancelled by Cohere. Clients know neither.
  errors: { statuses: { 498: 400, 499: 502 } },
  modelList: listAt('/v1/models?page_size=1000', 'models', ({ name, endpoints }) => ({
    id: name,
    operations: operationsFor(endpoints, { embed: 'embeddings', rerank: 'rerank' }),
  })),
  chat: '/compatibility/v1/chat/completions',
  offers: ({ api_version: version }) => ({
    ...(version !== 'v1' && {
      cohere: { embeddings: { path: '/v2/embed', facts: embedFacts }, chat: { path: '/v2/chat', facts: chatFacts } },
    }),
    cohere_v1: { embeddings: { path: '/v1/embed', facts: embedFacts }, chat: { path: '/v1/chat', facts: chatFacts } },
    openai: {
      rerank: {
        path: `/${version}/rerank`,
        translation: version === 'v1' ? rerank.v1 : rerank.v2,
        scores: { scale: 'sigmoid' },
        facts:
          version === 'v1'
            ? 'texts or objects with `rank_fields`; 999 documents a call, as each may be 10 chunks of 10,000'
            : 'texts; 10,000 documents a call',
      },
      embeddings: {
        path: `/${version}/embed`,
        speaks: 'cohere',
        vectorKinds,
        translation: translateEmbeddings(embeddings),
        facts:
          '96 texts a call; `dimensions` from v4 on; `input_type` is `search_document` by default; longer texts are truncated unless `truncate` is `NONE`; `output_dtype` selects int8, uint8, binary or ubinary',
      },
    },
  }),
});
