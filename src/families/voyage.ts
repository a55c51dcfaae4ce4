/** Declares Voyage AI as an upstream family: OpenAI's embeddings and Cohere's rerank with other field names. */

import { bearer, defineFamily } from '../core/family.ts';
import { type Glance, vectorKinds } from '../core/translation.ts';
import { kindBits } from '../lib/json/json-scan.ts';
import type { Json } from '../lib/json/json-text.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import { readOpenaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import { type RerankWireFormat, translateRerank } from './wire-formats/rerank/rerank.ts';
import { readStandardRerank } from './wire-formats/rerank/standard-rerank.ts';

/** Limit of the tokens of all inputs in a call, by model; models that are not listed have the smallest. */
const embeddingTokens: readonly (readonly [models: RegExp, most: number])[] = [
  [/^voyage-(?:4|3\.5)-lite$/, 1_000_000],
  [/^voyage-(?:4|3\.5|2|code-4)$/, 320_000],
];
const fewestEmbeddingTokens = 120_000;

const embeddings: EmbeddingWireFormat = {
  limits: (model) => ({
    items: 1_000,
    tokens: embeddingTokens.find(([models]) => models.test(model))?.[1] ?? fewestEmbeddingTokens,
  }),
  hasDimensions: true,
  speaks: 'voyage',
  own: ['input_type', 'truncation', 'output_dtype'],
  purposes: { name: 'input_type', words: { document: 'document', query: 'query' } },
  write: ({ items, model, format, dimensions, more }) => ({
    body: {
      ...more,
      model,
      input: items,
      ...(dimensions !== undefined && { output_dimension: dimensions }),
      // Voyage knows base64 and null, which means lists; base64 of integers holds no floats.
      ...(format === 'base64' && holdsFloats(more.output_dtype) && { encoding_format: 'base64' }),
    },
  }),
  read: readOpenaiEmbeddings,
};

const holdsFloats = (dtype: Json | undefined): boolean => dtype === undefined || dtype === 'float';

const firstRerankers = /^rerank-(?:lite-)?1$/;

const rerank: RerankWireFormat = {
  limits: (model) => ({ items: 1_000, tokens: firstRerankers.test(model) ? 300_000 : 600_000 }),
  own: ['truncation'],
  write: ({ query, documents, model, topN, more }) => ({
    body: { ...more, model, query, documents, ...(topN !== undefined && { top_k: topN }) },
  }),
  read: readStandardRerank,
};

const texts = kindBits('string');
const ofOthers = ['top_n', 'max_tokens_per_doc', 'max_chunks_per_doc', 'rank_fields'] as const;

/** Whether a rerank request is in another service's format; those of Voyage's own clients pass unchanged. */
function isForOthers({ fields, shape }: Glance): boolean {
  if (shape !== 'voyage' || ofOthers.some((name) => fields.get(name) !== undefined)) return true;
  const query = fields.get('query');
  const documents = fields.get('documents');
  return query?.kind !== 'string' || documents === undefined || (documents.elementKinds & ~texts) !== 0;
}

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
    contextualized: {
      embeddings: {
        path: '/v1/contextualizedembeddings',
        facts: 'bytes pass, for contextual chunk embeddings',
      },
    },
    multimodal: {
      embeddings: { path: '/v1/multimodalembeddings', facts: 'bytes pass, for texts with images' },
    },
    openai: {
      rerank: {
        path: '/v1/rerank',
        translation: { ...translateRerank(rerank), isNeeded: isForOthers },
        facts:
          'bytes pass for its own clients; texts; 1,000 documents and about 600,000 tokens a call (the query counts with each document)',
      },
      embeddings: {
        path: '/v1/embeddings',
        speaks: 'voyage',
        vectorKinds,
        translation: translateEmbeddings(embeddings),
        facts:
          '1,000 texts a call, and about as many tokens as the model allows (120,000 to 1,000,000); keys that begin with `al-` need `https://ai.mongodb.com` as `base_url`',
      },
    },
  },
});
