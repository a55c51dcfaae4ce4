/** Operations `speech`, `transcriptions` and `translations`. */

import { defineOperation } from './row.ts';

/** A text read aloud. */
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

/** The speech in a recording as text. */
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

/** The speech in a recording as English text. */
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
