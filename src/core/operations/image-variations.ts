/** Operation `image_variations`: images similar to a given one. */

import { defineOperation } from './row.ts';

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
