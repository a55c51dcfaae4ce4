/** Route: the next message of a chat, plain or streamed. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/chat/completions', '/v1/v1/chat/completions'],
  operation: 'chat',
  label: 'openai',
  required: { messages: 'array' },
  watched: [
    'stream',
    'stream_options',
    'max_tokens',
    'max_completion_tokens',
    'n_predict',
    'n',
    'n_cmpl',
    'web_search_options',
    'search_parameters',
    'plugins',
    'enable_search',
    'tools',
    'service_tier',
    'speed',
    'inference_geo',
    'prediction',
    'data_sources',
    'datasources',
  ],
});
