/** Text completion on the legacy path that carries the model in its URL. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1/engines/{model}/completions',
  aliases: ['/engines/{model}/completions', '/v1/v1/engines/{model}/completions'],
  operation: 'completions',
  label: 'engines',
  fallbackLabel: 'openai',
  model: { from: 'path' },
  visibleModelsOnly: false,
  required: { prompt: 'string | string[] | number[] | array[]' },
  elements: 'first',
  optional: {},
  watched: ['stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n_predict', 'n', 'best_of'],
  replayable: false,
});
