/** Declares the operation `generate`: Google's chat, contents in and candidates out. */

import { contents } from './contents.ts';
import { defineOperation } from './row.ts';

const question = { contents: [{ role: 'user', parts: [{ text: 'What is a postern?' }] }] };

export const generate = defineOperation({
  ...contents,
  path: '/v1beta/models/{model}:generateContent',
  words: { all: 'Generation', one: 'Generation' },
  offered: 10,
  yields: 'text',
  mayStream: true,
  items: ['contents'],
  written: { whole: ['text'], events: ['text'] },
  listedAs: { methods: ['generateContent', 'streamGenerateContent', 'countTokens'] },
  countsIn: 'chunks',
  callsIn: 'grounding',
  billedBy: ['input', 'output', 'request'],
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  sample: { body: question, brief: { generationConfig: { maxOutputTokens: 64 } } },
  trial: {
    contents: [{ role: 'user', parts: [{ text: 'Say hello.' }] }],
    generationConfig: { maxOutputTokens: 16 },
  },
});
