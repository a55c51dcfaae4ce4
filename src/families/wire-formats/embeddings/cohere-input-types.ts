/** Cohere's words for what texts are embedded for, wherever its models are. */

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
