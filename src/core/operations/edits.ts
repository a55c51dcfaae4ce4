/** Declares the operation `edits`: changes a text by an instruction. */

import { defineOperation } from './row.ts';

export const edits = defineOperation({
  path: '/v1/edits',
  words: { all: 'Edits', one: 'Edit' },
  offered: 5,
  yields: 'text',
  items: ['input'],
  counting: 'edit',
  written: { whole: ['text'], events: ['text'] },
  billedBy: ['input', 'output', 'request', 'item'],
  sample: { body: { input: 'the small gate', instruction: 'Make it upper case' } },
  trial: { input: 'Helo wrld', instruction: 'Fix the spelling.' },
});
