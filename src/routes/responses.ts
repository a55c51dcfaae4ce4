/** Route: OpenAI's responses API, plain or streamed. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/responses', '/v1/v1/responses'],
  operation: 'responses',
  label: 'openai',
  required: { input: 'string | array' },
  watched: [
    'stream',
    'max_output_tokens',
    'tools',
    'max_tool_calls',
    'context_management',
    'service_tier',
    'speed',
    'inference_geo',
    'store',
    'background',
    'previous_response_id',
    'conversation',
    'prompt',
  ],
});
