/** Route: the next content of a chat in Google's format. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1beta/models/{model}:generateContent',
  aliases: [
    '/v1/models/{model}:generateContent',
    '/v1beta/{model=tunedModels/*}:generateContent',
    '/v1/{model=tunedModels/*}:generateContent',
  ],
  operation: 'generate',
  label: 'gemini',
  verb: 'generateContent',
  model: { from: 'path', prefix: 'models/', again: ['model'] },
  required: { contents: 'array' },
  optional: { generationConfig: 'object', generation_config: 'object', tools: 'array' },
  watched: ['cachedContent', 'cached_content', 'serviceTier', 'service_tier'],
});
