/** Declares the operation `moderations`: judges texts and images by category. */

import { defineOperation } from './row.ts';

export const moderations = defineOperation({
  path: '/v1/moderations',
  words: { all: 'Moderations', one: 'Moderation' },
  offered: 3,
  yields: 'verdicts',
  replayable: true,
  items: ['input'],
  counting: 'inputs and images',
  billedBy: ['input', 'request', 'item', 'image'],
  listedAs: { capability: 'moderation' },
  namedLike: /moderation|llama-guard|shieldgemma/,
  sample: { body: { input: 'I will hurt you' } },
  trial: { input: 'I like bananas.' },
  sdk: { call: 'moderations', python: 'answer.results[0]', node: 'answer.results[0]' },
});
