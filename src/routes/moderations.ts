/** Route: moderation of texts and images by category. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/moderations', '/v1/v1/moderations'],
  operation: 'moderations',
  label: 'openai',
  required: { input: 'string | string[] | object[]' },
});
