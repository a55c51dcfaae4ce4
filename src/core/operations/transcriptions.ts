/** Operation `transcriptions`: the speech in a recording as text. */

import { defineOperation } from './row.ts';

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
