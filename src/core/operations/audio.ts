/** Declares the operations `speech`, `transcriptions` and `translations`. */

import { defineOperation } from './row.ts';

export const speech = defineOperation({
  path: '/v1/audio/speech',
  words: { all: 'Speech', one: 'Speech' },
  offered: 8,
  yields: 'audio',
  mayStream: true,
  answers: ['audio'],
  items: ['input'],
  counting: 'speech',
  objectNames: { fields: [], names: [], texts: { 'voice.id': 'voice' } },
  billedBy: ['character', 'input', 'output', 'request'],
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  namedLike: /(^|[/_-])tts(-|$)/,
  sample: { body: { input: 'The postern is the small gate.', voice: 'alloy' } },
  trial: { input: 'Hello.', voice: 'alloy' },
});

export const transcriptions = defineOperation({
  path: '/v1/audio/transcriptions',
  words: { all: 'Transcriptions', one: 'Transcription' },
  offered: 11,
  yields: 'text',
  mayStream: true,
  answers: ['object', 'text'],
  items: ['file'],
  counting: 'recording',
  billedBy: ['minute', 'input', 'output', 'request'],
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  namedLike: /whisper|(^|[/_-])transcribe(-|$)/,
  form: 'file',
  sample: { body: {} },
  trial: {},
});

/** Writes down the speech in a recording, translated to English. */
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
