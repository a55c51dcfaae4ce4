/** Declares Pinecone as an upstream family: rerank with its hosted models. */

import { defineFamily } from '../core/family.ts';
import { listAt, operationsFor } from './wire-formats/model-lists.ts';
import { at, countIn } from './wire-formats/reading.ts';
import { type RerankWireFormat, translateRerank } from './wire-formats/rerank/rerank.ts';
import { readStandardRerank } from './wire-formats/rerank/standard-rerank.ts';

const rerank: RerankWireFormat = {
  limits: { items: 100 },
  takesObjects: 'documents',
  own: ['rank_fields', 'parameters'],
  write: ({ query, documents, model, topN, more }) => ({
    body: {
      ...more,
      model,
      query,
      documents: documents.map((document) => (typeof document === 'string' ? { text: document } : document)),
      ...(topN !== undefined && { top_n: topN }),
      // Pinecone returns documents by default.
      return_documents: false,
    },
  }),
  read(answer, call) {
    const searchUnits = countIn(at(answer.body, 'usage', 'rerank_units'));
    return { ...readStandardRerank(answer, call), searchUnits };
  },
};

export default defineFamily({
  id: 'pinecone',
  title: 'Pinecone',
  baseUrl: 'https://api.pinecone.io',
  auth: { header: 'api-key', prefix: '' },
  headers: { 'x-pinecone-api-version': '2025-10' },
  starter: {
    apiKeyEnv: 'PINECONE_API_KEY',
    models: [{ id: 'bge-reranker-v2-m3', operations: ['rerank'] }],
  },
  errors: {},
  modelList: listAt('/models', 'models', ({ model, type }) => ({
    id: model,
    operations: operationsFor([type], { rerank: 'rerank' }),
  })),
  offers: {
    openai: {
      rerank: {
        path: '/rerank',
        translation: translateRerank(rerank),
        facts:
          'texts or objects with `rank_fields`; 100 documents a call (unverified); the API version is 2025-10 unless `headers` sets `X-Pinecone-API-Version`',
      },
    },
  },
});
