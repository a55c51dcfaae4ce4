/** Route: variations of an image in a form. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/images/variations', '/v1/v1/images/variations'],
  operation: 'image_variations',
  label: 'openai',
  form: { required: { image: 'object' }, only: true },
  watched: ['n', 'partial_images', 'quality', 'size', 'stream'],
});
