/** Counts the tokens of a conversation as Anthropic has it. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/messages/count_tokens', '/v1/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'],
  operation: 'count_tokens',
  label: 'anthropic',
  model: { from: 'body' },
  required: { messages: 'array' },
  elements: 'first',
  optional: {},
  watched: [],
});
