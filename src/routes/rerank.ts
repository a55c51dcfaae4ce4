/** Route: documents ranked by relevance to a query. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  // Cohere's clients bring their own version, and put it behind a base URL that already has one.
  // The server of llama.cpp has another word beside it.
  aliases: ['/rerank', '/v2/rerank', '/v1/v1/rerank', '/v1/v2/rerank', '/reranking', '/v1/reranking'],
  shapedPaths: {
    '/voyage/v1/rerank': 'voyage',
    '/jina/v1/rerank': 'jina',
    '/cohere/v1/rerank': 'cohere',
    '/cohere/v2/rerank': 'cohere',
  },
  operation: 'rerank',
  label: 'openai',
  required: { query: 'string | object', documents: 'string[] | object[]' },
  watched: [
    'top_n',
    'return_documents',
    'max_tokens_per_doc',
    'max_chunks_per_doc',
    'rank_fields',
    'top_k',
    'raw_scores',
  ],
  // What the clients of Text Embeddings Inference call them.
  standIns: { documents: { name: 'texts', kinds: 'string[]', allowed: 'tei' } },
});
