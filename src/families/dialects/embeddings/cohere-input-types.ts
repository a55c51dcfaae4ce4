/** Cohere's words for what texts are embedded for, wherever its models are. */

import type { EmbeddingDialect } from './embeddings.ts';

export const cohereInputTypes: NonNullable<EmbeddingDialect['purposes']> = {
  name: 'input_type',
  words: {
    document: 'search_document',
    query: 'search_query',
    classification: 'classification',
    clustering: 'clustering',
  },
};
