/** Route: counts the tokens of a chat in Anthropic's format. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/messages/count_tokens', '/v1/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'],
  operation: 'count_tokens',
  // It is a part of asking for messages.
  isFor: ['count_tokens', 'messages'],
  label: 'anthropic',
  required: { messages: 'array' },
  // Its libraries ask so for what is not settled yet.
  query: { beta: { pattern: /^(?:true|false)$/, form: 'true or false' } },
  watched: ['container'],
});
