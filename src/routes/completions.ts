/** Route: legacy text completions, plain or streamed. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/completions', '/v1/v1/completions'],
  operation: 'completions',
  label: 'openai',
  required: { prompt: 'string | string[] | number[] | array[]' },
  watched: ['stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n_predict', 'n', 'n_cmpl', 'best_of'],
});
