/** Operation `speech`: a text read aloud. */

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
