/** Vectors for texts or token lists. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/embeddings', '/v1/v1/embeddings'],
  operation: 'embeddings',
  label: 'openai',
  model: { from: 'body' },
  required: { input: 'string | array' },
  elements: 'first',
  optional: { dimensions: 'number' },
  watched: ['encoding_format'],
  // vLLM embeds a conversation in place of texts.
  standIns: { input: { name: 'messages', kinds: 'array', allowed: 'accepts_messages' } },
});
