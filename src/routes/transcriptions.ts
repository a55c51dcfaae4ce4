/** Route: the speech in a recording as text. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/audio/transcriptions', '/v1/v1/audio/transcriptions'],
  operation: 'transcriptions',
  label: 'openai',
  form: { required: { file: 'object' }, only: true },
  watched: ['stream', 'response_format'],
});
