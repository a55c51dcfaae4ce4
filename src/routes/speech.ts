/** Route: text to speech; the response is audio, or events with audio. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/audio/speech', '/v1/v1/audio/speech'],
  operation: 'speech',
  label: 'openai',
  required: { input: 'string' },
});
