/** A text, read aloud; the answer is sound, or events that hold it. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/audio/speech', '/v1/v1/audio/speech'],
  operation: 'speech',
  label: 'openai',
  model: { from: 'body' },
  required: { input: 'string' },
  elements: 'first',
  optional: {},
  watched: [],
});
