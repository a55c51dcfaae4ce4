/** Declares the operations `messages` and `count_tokens`: Anthropic's chat, messages in and the next one out. */

import { defineOperation, type ObjectNames } from './row.ts';

const storedByMessages: ObjectNames = { fields: ['container'], names: ['file_id'], except: ['input'] };

export const messages = defineOperation({
  path: '/v1/messages',
  words: { all: 'Messages', one: 'Message' },
  offered: 7,
  yields: 'text',
  mayStream: true,
  items: ['messages'],
  counting: 'messages',
  beyondText: ['source', 'file_id', 'container'],
  hosted: ['mcp_servers'],
  written: { whole: ['text', 'thinking'], events: ['text', 'thinking', 'partial_json'] },
  countsIn: 'message',
  callsIn: 'usage',
  objectNames: storedByMessages,
  billedBy: ['input', 'output', 'request'],
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  namedLike: /(^|[/_.-])claude-/,
  sample: { body: { max_tokens: 64, messages: [{ role: 'user', content: 'What is a postern?' }] } },
  trial: { max_tokens: 16, messages: [{ role: 'user', content: 'Say hello.' }] },
});

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
