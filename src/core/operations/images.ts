/** Declares the operations `images`, `image_edits` and `image_variations`. */

import { defineOperation } from './row.ts';

export const images = defineOperation({
  path: '/v1/images/generations',
  words: { all: 'Images', one: 'Images' },
  offered: 7,
  yields: 'images',
  mayStream: true,
  items: ['prompt'],
  counting: 'images',
  billedBy: ['image', 'input', 'output', 'request'],
  // A large picture takes several minutes.
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  namedLike: /^(gpt-image|chatgpt-image|dall-e)-/,
  sample: { body: { prompt: 'A small gate in a castle wall' } },
  trial: { prompt: 'A grey square', n: 1 },
});

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

export const imageVariations = defineOperation({
  path: '/v1/images/variations',
  words: { all: 'Image variations', one: 'Image variations' },
  offered: 10,
  yields: 'images',
  items: ['image'],
  counting: 'images',
  billedBy: ['image', 'request'],
  companionOf: 'images',
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  form: 'image',
  sample: { body: {} },
  trial: {},
});
