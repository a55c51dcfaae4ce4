/** Infinity: OpenAI's embeddings and a reranker, without a version in its paths. */

import { bearer, defineFamily } from '../core/family.ts';
import { listAt, operationsFor } from './dialects/model-lists.ts';
import { openaiEmbeddings } from './dialects/openai-embeddings.ts';
import { itemsInACall } from './dialects/options.ts';
import { standardRerank } from './dialects/standard-rerank.ts';

const mostItems = 2048;

export default defineFamily({
  id: 'infinity',
  title: 'Infinity',
  baseUrl: 'http://127.0.0.1:7997',
  auth: bearer(),
  options: {
    max_items: itemsInACall(
      "Inputs and documents in a call, at most: the server's INFINITY_MAX_CLIENT_BATCH_SIZE.",
      mostItems,
    ),
  },
  errors: {},
  modelList: listAt('/models', 'data', ({ id, capabilities }) => ({
    id,
    operations: operationsFor(capabilities, { embed: 'embeddings', rerank: 'rerank' }),
  })),
  offers: (options) => ({
    openai: {
      rerank: {
        path: '/rerank',
        translation: standardRerank({
          own: ['raw_scores'],
          // As plain text, or null.
          echoes: 'otherwise',
          refusesNull: ['top_n', 'return_documents'],
          maxItems: Number(options.max_items ?? mostItems),
        }),
        facts: '2,048 documents a call (`max_items`), 122,880 characters each; takes texts only',
      },
      embeddings: {
        path: '/embeddings',
        translation: openaiEmbeddings(
          {
            maxItems: mostItems,
            maxItemsOption: 'max_items',
            misreadsTokens: true,
            // That it has no null is unverified: the defaults are "float" and 0.
            refusesNull: ['encoding_format', 'dimensions'],
          },
          options,
        ),
        facts: '2,048 inputs a call (`max_items`), 122,880 characters each; strips the white space around them',
      },
    },
  }),
});
