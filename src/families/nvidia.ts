/** Declares NVIDIA NIM as an upstream family: OpenAI's embeddings with an input type, and ranking in its own format. */

import type { Json } from '../lib/json/json-text.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import { readOpenaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import { openaiCompatible } from './wire-formats/openai-compatible.ts';
import { at, countIn, objectIn } from './wire-formats/reading.ts';
import { type RerankWireFormat, rankedIn, translateRerank } from './wire-formats/rerank/rerank.ts';

const embeddings: EmbeddingWireFormat = {
  hasDimensions: true,
  own: ['input_type', 'truncate', 'user'],
  purposes: { name: 'input_type', words: { document: 'passage', query: 'query' } },
  write: ({ items, isSingle, model, format, dimensions, more }) => ({
    body: {
      input_type: sideOf(model),
      ...more,
      model,
      input: isSingle ? (items[0] ?? '') : items,
      dimensions,
      encoding_format: format,
    },
  }),
  read: readOpenaiEmbeddings,
};

/** The input type that a model's name implies: some names end in `-query` (unverified). */
const sideOf = (model: string): string => (model.endsWith('-query') ? 'query' : 'passage');

/** The value of `truncate`: TEI's clients send a boolean, NVIDIA's API takes the end at which a long text is cut, as a word. */
function endOf(truncate: Json): Json {
  if (typeof truncate !== 'boolean') return truncate;
  return truncate ? 'END' : 'NONE';
}

const ranking: RerankWireFormat = {
  limits: { items: 512 },
  own: ['truncate'],
  write: ({ query, documents, model, more: { truncate, ...more } }) => ({
    body: {
      ...more,
      ...(truncate !== undefined && { truncate: endOf(truncate) }),
      model,
      query: { text: query },
      passages: documents.map((text) => ({ text })),
    },
  }),
  read({ body }) {
    const { rankings, usage } = objectIn(body, 'the answer');
    return {
      results: rankedIn(rankings, 'rankings', 'logit'),
      promptTokens: countIn(at(usage, 'prompt_tokens')),
      totalTokens: countIn(at(usage, 'total_tokens')),
    };
  },
};

export default openaiCompatible({
  id: 'nvidia',
  title: 'NVIDIA NIM',
  baseUrl: 'https://integrate.api.nvidia.com',
  starter: {
    apiKeyEnv: 'NVIDIA_API_KEY',
    models: [{ id: 'nvidia/llama-3.2-nv-embedqa-1b-v2', operations: ['embeddings'] }],
  },
  options: {
    ranking_path: {
      description:
        'The rerank path with its version. Hosted models under https://ai.api.nvidia.com have another: `/v1/retrieval/nvidia/reranking`, or one for each model.',
      pattern: /^(?:\/(?:\{model\}|[A-Za-z0-9_~-][A-Za-z0-9._~-]*))+$/,
      default: '/v1/ranking',
    },
  },
  modelList: '/v1/models',
  at: '/v1',
  completions: {
    misreadsTokens: true,
    facts: 'only some models; token IDs are decoded',
  },
  own: () => ({
    embeddings: {
      path: '/v1/embeddings',
      translation: translateEmbeddings(embeddings),
      facts: '`input_type` is `passage` by default; longer texts are an error unless `truncate` is set',
    },
    rerank: {
      path: '{ranking_path}',
      translation: translateRerank(ranking),
      scores: { scale: 'raw' },
      facts: '512 documents a call (unverified)',
    },
  }),
});
