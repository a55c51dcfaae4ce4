/** Route: embeddings of texts or token lists. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  // The last one is that of the server of llama.cpp.
  aliases: ['/embeddings', '/v1/v1/embeddings', '/embedding'],
  operation: 'embeddings',
  label: 'openai',
  required: { input: 'string | array' },
  optional: { dimensions: 'number' },
  watched: ['encoding_format'],
  // vLLM embeds a conversation in place of texts.
  standIns: { input: { name: 'messages', kinds: 'array', allowed: 'accepts_messages' } },
});
