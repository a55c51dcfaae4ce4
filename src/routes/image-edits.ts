/** Pictures, changed as a prompt says: as a form with the pictures in it, or as JSON that says where they are. */

import { defineRoute } from '../core/route.ts';

export default defineRoute({
  aliases: ['/images/edits', '/v1/v1/images/edits'],
  operation: 'image_edits',
  label: 'openai',
  model: { from: 'body' },
  required: { prompt: 'string', images: 'object[]' },
  form: { required: { prompt: 'string', image: 'object | object[]' }, only: false },
  elements: 'first',
  optional: {},
  watched: ['n', 'partial_images', 'quality', 'size', 'stream'],
});
