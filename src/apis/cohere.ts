/** Client API of Cohere: `embed` and `chat`, versions 1 and 2. Its rerank is the gateway's own format already. */

import { defineClientApi } from '../core/client-api.ts';
import { chatV1, chatV2 } from './cohere-chat.ts';
import { embedV1, embedV2 } from './cohere-embeddings.ts';
import { models, oneModel } from './cohere-models.ts';
import { detokenize, tokenize } from './cohere-tokenize.ts';

export default defineClientApi({
  id: 'cohere',
  title: 'Cohere',
  prefix: '/cohere',
  mappings: [embedV1, embedV2, chatV1, chatV2],
  fixedEndpoints: [
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
