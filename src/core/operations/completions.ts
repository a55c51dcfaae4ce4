/** Declares the operation `completions`: continues a prompt. */

import { defineOperation } from './row.ts';

export const completions = defineOperation({
  path: '/v1/completions',
  words: { all: 'Completions', one: 'Completion' },
  offered: 4,
  yields: 'text',
  mayStream: true,
  items: ['prompt'],
  counting: 'prompts',
  written: { whole: ['text'], events: ['text'] },
  billedBy: ['input', 'output', 'request', 'item'],
  // A model may reason for as long as OpenAI's official clients wait.
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  namedLike: /(^|(?<!embedding)[/_-])(davinci|babbage|curie|ada)-00\d$|-turbo-instruct|^(davinci|babbage)$/,
  sample: { body: { prompt: 'The postern is the small gate' } },
  trial: { prompt: 'Say hello:', max_tokens: 16 },
  sdk: { call: 'completions', python: 'answer.choices[0].text', node: 'answer.choices[0].text' },
});
