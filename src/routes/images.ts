/** Route: images from a prompt, plain or streamed. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/images/generations', '/v1/v1/images/generations'],
  operation: 'images',
  label: 'openai',
  required: { prompt: 'string' },
  watched: ['n', 'partial_images', 'quality', 'size', 'stream'],
});
