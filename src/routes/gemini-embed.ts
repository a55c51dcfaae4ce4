/** Route: the embedding of one content in Google's format. */

import { contents } from '../core/operations/contents.ts';
import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1beta/models/{model}:embedContent',
  aliases: [
    '/v1/models/{model}:embedContent',
    '/v1beta/{model=tunedModels/*}:embedContent',
    '/v1/{model=tunedModels/*}:embedContent',
  ],
  operation: 'embeddings',
  label: 'gemini',
  verb: 'embedContent',
  model: { from: 'path', prefix: 'models/', again: ['model'] },
  required: { content: 'object' },
  wire: { ...contents, items: ['content'] },
});
