/** Edits on the legacy path that carries the model in its URL. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  path: '/v1/engines/{model}/edits',
  aliases: ['/engines/{model}/edits', '/v1/v1/engines/{model}/edits'],
  operation: 'edits',
  label: 'engines',
  fallbackLabel: 'openai',
  model: { from: 'path' },
  visibleModelsOnly: false,
  required: { input: 'string', instruction: 'string' },
  elements: 'first',
  optional: {},
  watched: ['n', 'max_tokens', 'max_completion_tokens'],
  replayable: false,
});
