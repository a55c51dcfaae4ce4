/** Declares the operation `chat`: messages in, the next message out. */

import { defineOperation } from './row.ts';

export const chat = defineOperation({
  path: '/v1/chat/completions',
  words: { all: 'Chat', one: 'Chat' },
  offered: 6,
  yields: 'text',
  mayStream: true,
  items: ['messages'],
  counting: 'messages',
  beyondText: ['image_url', 'input_audio', 'video_url', 'audio_url', 'file', 'file_id', 'file_url', 'file_data'],
  // OpenAI, xAI, OpenRouter, DashScope.
  hosted: ['search_parameters', 'plugins', 'enable_search'],
  written: {
    whole: ['content', 'reasoning_content', 'refusal', 'arguments'],
    events: ['content', 'reasoning_content', 'refusal', 'arguments'],
  },
  objectNames: {
    fields: ['data_sources', 'datasources'],
    names: ['file_id', 'cached_content', 'cachedContent'],
    texts: { 'messages.*.audio.id': 'audio', 'audio.voice.id': 'voice' },
    // Vertex AI reads what these addresses name with the operator's account.
    links: Object.fromEntries(
      ['image_url', 'video_url', 'audio_url', 'file_url'].flatMap((name) =>
        ['', '.url'].map((end) => [`messages.*.content.*.${name}${end}`, name]),
      ),
    ),
    known: { file_id: 'file' },
  },
  searchedBy: 'web_search_options',
  reportsTier: true,
  billedBy: ['input', 'output', 'request'],
  patience: { firstByteMs: 600_000, totalMs: 900_000 },
  listedAs: { capability: 'completion_chat', endpoint: 'chat' },
  namedLike: /(^|[/_-])(gpt-(?:[4-9]|oss|3\.5-turbo)|chatgpt-|o[1-9](?:-|$))|-chat([-_:]|$)/,
  sample: { body: { messages: [{ role: 'user', content: 'What is a postern?' }] } },
  trial: { messages: [{ role: 'user', content: 'Say hello.' }], max_tokens: 16 },
  sdk: {
    call: 'chat.completions',
    python: 'answer.choices[0].message.content',
    node: 'answer.choices[0].message.content',
  },
});
