/** Declares Mixedbread as an upstream family: OpenAI's embeddings, and rerank with other field names. */

import { bearer, defineFamily } from '../core/family.ts';
import { openaiEmbeddings } from './wire-formats/embeddings/openai-embeddings.ts';
import { type RerankWireFormat, translateRerank } from './wire-formats/rerank/rerank.ts';
import { readStandardRerank } from './wire-formats/rerank/standard-rerank.ts';

const rerank: RerankWireFormat = {
  own: [],
  cannot: {
    input: 'takes them as "documents" here',
    return_input: 'gives documents back for "return_documents" here',
  },
  write: ({ query, documents, model, topN, more }) => ({
    body: {
      ...more,
      model,
      query,
      input: documents,
      // The default is ten results (unverified). Without documents no number is sent.
      ...(documents.length > 0 && { top_k: topN ?? documents.length }),
    },
  }),
  read: readStandardRerank,
};

export default defineFamily({
  id: 'mixedbread',
  title: 'Mixedbread',
  baseUrl: 'https://api.mixedbread.com',
  versions: ['/v1'],
  auth: bearer(),
  starter: {
    apiKeyEnv: 'MXBAI_API_KEY',
    models: [
      { id: 'mixedbread-ai/mxbai-embed-large-v1', operations: ['embeddings'] },
      { id: 'mixedbread-ai/mxbai-rerank-large-v2', operations: ['rerank'] },
    ],
  },
  errors: {},
  offers: (options) => ({
    openai: {
      rerank: {
        path: '/v1/reranking',
        translation: translateRerank(rerank),
        facts: 'texts; the gateway converts `rank_fields` to texts; the limit of documents is unknown',
      },
      embeddings: {
        path: '/v1/embeddings',
        translation: openaiEmbeddings({ maxItems: 256, misreadsTokens: true }, options),
        facts: '256 inputs a call (unverified); token IDs are decoded (unverified whether the service accepts them)',
      },
    },
  }),
});
