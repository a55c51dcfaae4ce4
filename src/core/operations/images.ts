/** Operation `images`: images from a prompt. */

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
