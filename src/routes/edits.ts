/** Route: legacy edits of a text by an instruction. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/edits', '/v1/v1/edits'],
  operation: 'edits',
  label: 'openai',
  required: { input: 'string', instruction: 'string' },
  watched: ['n', 'max_tokens', 'max_completion_tokens'],
});
