/** Route: embeddings of several contents in Google's format, each with the model. */

import { contents } from '../core/operations/contents.ts';
import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1beta/models/{model}:batchEmbedContents',
  aliases: [
    '/v1/models/{model}:batchEmbedContents',
    '/v1beta/{model=tunedModels/*}:batchEmbedContents',
    '/v1/{model=tunedModels/*}:batchEmbedContents',
  ],
  operation: 'embeddings',
  label: 'gemini',
  verb: 'batchEmbedContents',
  model: { from: 'path', prefix: 'models/', again: ['model', 'requests[].model'] },
  required: { requests: 'object[]' },
  elements: 'all',
  wire: { ...contents, items: ['requests'] },
});
