/** Cohere's clients: `embed` and `chat` in both of their versions. What they send to rerank is our own form already. */

import { defineDoor } from '../core/door.ts';
import { chatV1, chatV2 } from './cohere-chat.ts';
import { embedV1, embedV2 } from './cohere-embeddings.ts';
import { models, oneModel } from './cohere-models.ts';
import { detokenize, tokenize } from './cohere-tokenize.ts';

export default defineDoor({
  id: 'cohere',
  title: 'Cohere',
  prefix: '/cohere',
  grounds: [],
  modelLists: [],
  ways: [embedV1, embedV2, chatV1, chatV2],
  pages: [
    models,
    oneModel,
    tokenize,
    detokenize,
    {
      method: 'POST',
      paths: ['/v1/check-api-key'],
      summary: 'Whether the key is good; one that is not is answered as everywhere.',
      show: () => ({ valid: true }),
    },
  ],
  error: ({ message, id: exchangeId }) => ({ message, id: exchangeId }),
});
