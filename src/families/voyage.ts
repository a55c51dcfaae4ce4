/** Voyage AI: OpenAI's embeddings and Cohere's reranking, under other names. */

import { bearer, defineFamily } from '../core/family.ts';
import type { Json } from '../lib/json-text.ts';
import { type EmbeddingDialect, translateEmbeddings } from './dialects/embeddings.ts';
import { readOpenaiEmbeddings } from './dialects/openai-embeddings.ts';
import { type RerankDialect, translateRerank } from './dialects/rerank.ts';
import { readStandardRerank } from './dialects/standard-rerank.ts';

/** Tokens of all inputs of a call; the other models have the smallest number. */
const embeddingTokens: readonly (readonly [models: RegExp, most: number])[] = [
  [/^voyage-(?:4|3\.5)-lite$/, 1_000_000],
  [/^voyage-(?:4|3\.5|2|code-4)$/, 320_000],
];
const fewestEmbeddingTokens = 120_000;

const embeddings: EmbeddingDialect = {
  maxItems: 1_000,
  maxTokens: ({ model }) => embeddingTokens.find(([models]) => models.test(model))?.[1] ?? fewestEmbeddingTokens,
  hasDimensions: true,
  own: ['input_type', 'truncation', 'output_dimension', 'output_dtype'],
  write: ({ items, model, format, dimensions, more }) => ({
    body: {
      ...more,
      model,
      input: items,
      ...(dimensions !== undefined && { output_dimension: dimensions }),
      // It knows base64 and null, which means lists; its base64 of integers holds no floats.
      ...(format === 'base64' && holdsFloats(more.output_dtype) && { encoding_format: 'base64' }),
    },
  }),
  read: readOpenaiEmbeddings,
};

const holdsFloats = (dtype: Json | undefined): boolean => dtype === undefined || dtype === 'float';

const firstRerankers = /^rerank-(?:lite-)?1$/;

const rerank: RerankDialect = {
  maxItems: 1_000,
  maxTokens: ({ model }) => (firstRerankers.test(model) ? 300_000 : 600_000),
  own: ['truncation', 'top_k'],
  write: ({ query, documents, model, topN, more }) => ({
    body: { ...more, model, query, documents, ...(topN !== undefined && { top_k: topN }) },
  }),
  read: readStandardRerank,
};

export default defineFamily({
  id: 'voyage',
  title: 'Voyage AI',
  baseUrl: 'https://api.voyageai.com',
  versions: ['/v1'],
  auth: bearer(),
  starter: {
    apiKeyEnv: 'VOYAGE_API_KEY',
    models: [
      { id: 'voyage-3.5', operations: ['embeddings'] },
      { id: 'rerank-2.5', operations: ['rerank'] },
    ],
  },
  errors: {},
  offers: {
    openai: {
      rerank: {
        path: '/v1/rerank',
        translation: translateRerank(rerank),
        facts: 'texts; 1,000 documents a call, and 600,000 tokens by estimate, the query counted with each',
      },
      embeddings: {
        path: '/v1/embeddings',
        translation: translateEmbeddings(embeddings),
        facts:
          '1,000 texts a call, and by estimate as many tokens as the model may have (120,000 to 1,000,000); keys that begin with `al-` want `https://ai.mongodb.com` as `base_url`',
      },
    },
  },
});
