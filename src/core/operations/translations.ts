/** Operation `translations`: the speech in a recording as English text. */

import { defineOperation } from './row.ts';

export const translations = defineOperation({
  path: '/v1/audio/translations',
  words: { all: 'Translations', one: 'Translation' },
  offered: 12,
  yields: 'text',
  answers: ['object', 'text'],
  items: ['file'],
  counting: 'recording',
  billedBy: ['minute', 'input', 'output', 'request'],
  companionOf: 'transcriptions',
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  form: 'file',
  sample: { body: {} },
  trial: {},
});
