/** Operation `image_edits`: changes images by a prompt. */

import { defineOperation } from './row.ts';

export const imageEdits = defineOperation({
  path: '/v1/images/edits',
  words: { all: 'Image edits', one: 'Image edit' },
  offered: 9,
  yields: 'images',
  mayStream: true,
  items: ['prompt'],
  counting: 'images',
  objectNames: { fields: [], names: ['file_id'], known: { file_id: 'file' } },
  billedBy: ['image', 'input', 'output', 'request'],
  companionOf: 'images',
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  sample: { body: { prompt: 'Paint it green', images: [{ image_url: 'https://example.com/gate.png' }] } },
  trial: { prompt: 'Paint it green', images: [{ image_url: 'data:image/png;base64,iVBORw0KGgo=' }] },
});
