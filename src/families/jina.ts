/** Declares Jina AI as an upstream family: OpenAI's format with a few fields of its own. */

import { bearer, defineFamily } from '../core/family.ts';
import type { Asked, VectorKind } from '../core/translation.ts';
import type { Json } from '../lib/json/json-text.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import { readOpenaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import type { VectorFormat } from './wire-formats/embeddings/vectors.ts';
import { standardRerank } from './wire-formats/rerank/standard-rerank.ts';

const embeddings: EmbeddingWireFormat = {
  limits: { items: 2048 },
  hasDimensions: true,
  takes: 'objects',
  speaks: 'jina',
  own: ['task', 'normalized', 'late_chunking', 'truncate', 'prompt_name', 'output_dtype'],
  purposes: {
    name: 'task',
    words: {
      document: 'retrieval.passage',
      query: 'retrieval.query',
      classification: 'classification',
      clustering: 'separation',
    },
  },
  cannot: { embedding_type: 'is asked for what "encoding_format" says, "float" or "base64"' },
  write: ({ items, model, format, dimensions, more: { output_dtype: kind, ...more }, asked }) => ({
    body: { ...more, model, input: items, dimensions, embedding_type: typeOf(kind, format, asked) },
  }),
  read: readOpenaiEmbeddings,
};

const bits = ['binary', 'ubinary'] as const satisfies readonly VectorKind[];

/** The kind of numbers to request for the vectors: one kind for an answer; floats by default. */
function typeOf(kind: Json | undefined, format: VectorFormat, asked: Asked): string | undefined {
  if (kind === undefined || kind === 'float') return format === 'base64' ? 'base64' : undefined;
  const known = bits.find((one) => one === kind);
  if (known === undefined) throw asked.refusal('output_dtype', `makes float, ${bits.join(', ')}`);
  return known;
}

export default defineFamily({
  id: 'jina',
  title: 'Jina AI',
  baseUrl: 'https://api.jina.ai',
  versions: ['/v1'],
  auth: bearer(),
  starter: {
    apiKeyEnv: 'JINA_API_KEY',
    models: [
      { id: 'jina-embeddings-v3', operations: ['embeddings'] },
      { id: 'jina-reranker-v2-base-multilingual', operations: ['rerank'] },
    ],
  },
  errors: {},
  offers: {
    classify: { embeddings: { path: '/v1/classify', facts: 'bytes pass, with labels or a trained classifier' } },
    openai: {
      rerank: {
        path: '/v1/rerank',
        translation: standardRerank({
          speaks: 'jina',
          own: [],
          takesObjects: true,
          maxItems: 2048,
          refusesNull: ['top_n', 'return_documents'],
        }),
        facts: 'returns documents unless `return_documents` is false; 2,048 documents a call (unverified)',
      },
      embeddings: {
        path: '/v1/embeddings',
        speaks: 'jina',
        vectorKinds: bits,
        translation: translateEmbeddings(embeddings),
        facts: '2,048 inputs a call; texts or `{text}` and `{image}` objects',
      },
    },
  },
});
