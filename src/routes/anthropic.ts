/** Defines the routes in Anthropic's format, one row each. */

import { defineRoute, type Route } from '../core/route.ts';

/** The query parameter that Anthropic's client libraries send for beta features. */
const query = { beta: { pattern: /^(?:true|false)$/, form: 'true or false' } };

export const anthropicRoutes: readonly Route[] = [
  defineRoute({
    aliases: ['/messages', '/v1/v1/messages', '/anthropic/v1/messages'],
    operation: 'messages',
    label: 'anthropic',
    required: { messages: 'array', max_tokens: 'number' },
    query,
    watched: [
      ...['stream', 'tools', 'mcp_servers', 'container'],
      ...['service_tier', 'speed', 'inference_geo', 'thinking', 'context_management'],
    ],
  }),
  defineRoute({
    aliases: ['/messages/count_tokens', '/v1/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens'],
    operation: 'count_tokens',
    // Counting is part of using messages.
    isFor: ['count_tokens', 'messages'],
    label: 'anthropic',
    required: { messages: 'array' },
    query,
    watched: ['container'],
  }),
];
