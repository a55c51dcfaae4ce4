/** Route: the speech in a recording as English text. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/audio/translations', '/v1/v1/audio/translations'],
  operation: 'translations',
  label: 'openai',
  model: { from: 'body' },
  required: {},
  form: { required: { file: 'object' }, only: true },
  elements: 'first',
  optional: {},
  watched: ['stream', 'response_format'],
});
