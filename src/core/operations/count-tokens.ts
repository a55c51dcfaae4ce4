/** Operation `count_tokens`: counts the tokens of messages without answering them. */

import { storedByMessages } from './messages.ts';
import { defineOperation } from './row.ts';

export const countTokens = defineOperation({
  path: '/v1/messages/count_tokens',
  words: { all: 'Token counts', one: 'Token count' },
  offered: 8,
  yields: 'counts',
  replayable: true,
  items: ['messages'],
  counting: 'messages',
  objectNames: storedByMessages,
  billedBy: [],
  companionOf: 'messages',
  isImplied: true,
  sample: { body: { messages: [{ role: 'user', content: 'What is a postern?' }] } },
  trial: { messages: [{ role: 'user', content: 'Say hello.' }] },
});
