/** Route: counts the tokens of a chat in Google's format. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1beta/models/{model}:countTokens',
  aliases: [
    '/v1/models/{model}:countTokens',
    '/v1beta/{model=tunedModels/*}:countTokens',
    '/v1/{model=tunedModels/*}:countTokens',
  ],
  operation: 'generate',
  label: 'gemini',
  verb: 'countTokens',
  model: {
    from: 'path',
    prefix: 'models/',
    again: ['model', 'generateContentRequest.model', 'generate_content_request.model'],
  },
  optional: { contents: 'array', generateContentRequest: 'object', generate_content_request: 'object' },
  wire: { replayable: true, mayStream: false, billedBy: [] },
});
