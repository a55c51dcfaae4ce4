/** Route: embeddings on the legacy path with the model in the URL. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1/engines/{model}/embeddings',
  aliases: ['/engines/{model}/embeddings', '/v1/v1/engines/{model}/embeddings'],
  operation: 'embeddings',
  label: 'engines',
  fallbackLabel: 'openai',
  model: { from: 'path' },
  required: { input: 'string | string[]' },
  elements: 'all',
  optional: { dimensions: 'number' },
  watched: ['encoding_format'],
});
