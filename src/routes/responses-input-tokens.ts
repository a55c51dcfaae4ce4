/** Route: counts the input tokens of the responses API. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1/responses/input_tokens',
  aliases: ['/responses/input_tokens', '/v1/v1/responses/input_tokens'],
  operation: 'responses',
  label: 'input_tokens',
  optional: { input: 'string | array' },
  watched: ['tools', 'previous_response_id', 'conversation', 'prompt'],
  wire: { replayable: true, mayStream: false, billedBy: [] },
});
