/** Declares the operation `rerank`: orders documents by relevance to a query. */

import { defineOperation } from './row.ts';

export const rerank = defineOperation({
  path: '/v1/rerank',
  words: { all: 'Rerank', one: 'Rerank' },
  offered: 1,
  yields: 'scores',
  replayable: true,
  visibleModelsOnly: true,
  // Clients of the shape `tei` read a bare list.
  answers: ['object', 'array'],
  // The field's name in Text Embeddings Inference.
  items: ['documents', 'texts'],
  counting: 'documents',
  billedBy: ['search_unit', 'input', 'request', 'item'],
  listedAs: { endpoint: 'rerank' },
  namedLike: /rerank|ranker|cross-encoder/,
  sample: { body: { query: 'small gate', documents: ['a large hall', 'a small gate', 'a gate'] } },
  trial: {
    query: 'Which fruit is yellow?',
    documents: ['Bananas are yellow.', 'Plums are blue.', 'The sky is blue.'],
    top_n: 2,
  },
});
