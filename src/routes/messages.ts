/** Route: the next message of a chat in Anthropic's format, plain or streamed. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/messages', '/v1/v1/messages', '/anthropic/v1/messages'],
  operation: 'messages',
  label: 'anthropic',
  required: { messages: 'array', max_tokens: 'number' },
  // Its libraries ask so for what is not settled yet.
  query: { beta: { pattern: /^(?:true|false)$/, form: 'true or false' } },
  watched: [
    ...['stream', 'tools', 'mcp_servers', 'container'],
    ...['service_tier', 'speed', 'inference_geo', 'thinking', 'context_management'],
  ],
});
