/** Route: Google's streamed chat, as events or as a list sent element by element. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1beta/models/{model}:streamGenerateContent',
  aliases: [
    '/v1/models/{model}:streamGenerateContent',
    '/v1beta/{model=tunedModels/*}:streamGenerateContent',
    '/v1/{model=tunedModels/*}:streamGenerateContent',
  ],
  operation: 'generate',
  label: 'gemini',
  verb: 'streamGenerateContent',
  model: { from: 'path', prefix: 'models/', again: ['model'] },
  required: { contents: 'array' },
  optional: { generationConfig: 'object', generation_config: 'object', tools: 'array' },
  watched: ['cachedContent', 'cached_content', 'serviceTier', 'service_tier'],
  wire: { answers: ['object', 'array'] },
  query: { alt: { pattern: /^(?:sse|json)$/, form: 'sse or json' } },
  streams: { asEvents: ['alt', 'sse'] },
});
