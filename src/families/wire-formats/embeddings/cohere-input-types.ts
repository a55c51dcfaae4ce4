/** Cohere's input types for embeddings, on any service. */

import type { EmbeddingWireFormat } from './embeddings.ts';

export const cohereInputTypes: NonNullable<EmbeddingWireFormat['purposes']> = {
  name: 'input_type',
  words: {
    document: 'search_document',
    query: 'search_query',
    classification: 'classification',
    clustering: 'clustering',
  },
};
