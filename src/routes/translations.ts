/** Route: the speech in a recording as English text. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/audio/translations', '/v1/v1/audio/translations'],
  operation: 'translations',
  label: 'openai',
  form: { required: { file: 'object' }, only: true },
  watched: ['stream', 'response_format'],
});
