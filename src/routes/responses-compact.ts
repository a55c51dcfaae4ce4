/** Route: compacts a long conversation of the responses API. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1/responses/compact',
  aliases: ['/responses/compact', '/v1/v1/responses/compact'],
  operation: 'responses',
  label: 'compact',
  optional: { input: 'string | array' },
  watched: ['tools', 'previous_response_id', 'conversation', 'prompt', 'service_tier', 'max_output_tokens'],
  wire: { mayStream: false },
});
