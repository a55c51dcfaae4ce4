/** Route: image edits, as a form with images, or as JSON with references. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/images/edits', '/v1/v1/images/edits'],
  operation: 'image_edits',
  label: 'openai',
  required: { prompt: 'string', images: 'object[]' },
  form: { required: { prompt: 'string', image: 'object | object[]' }, only: false },
  watched: ['n', 'partial_images', 'quality', 'size', 'stream'],
});
