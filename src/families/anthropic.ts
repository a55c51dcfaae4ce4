/** Declares Anthropic as an upstream family: messages in its own format, chat in OpenAI's; both pass unchanged, errors too. */

import { bearer, defineFamily } from '../core/family.ts';
import { listAt } from './wire-formats/model-lists.ts';

export default defineFamily({
  id: 'anthropic',
  title: 'Anthropic',
  baseUrl: 'https://api.anthropic.com',
  versions: ['/v1'],
  auth: { header: 'x-api-key', prefix: '' },
  // Calls without a version are refused (unverified).
  headers: { 'anthropic-version': '2023-06-01' },
  forwards: ['anthropic-version', 'anthropic-beta'],
  // The messages come with 400 `invalid_request_error` (github.com/anthropics/claude-code/issues/2127 and 38035), the code with 402.
  exhaustion: {
    codes: ['billing_error'],
    messages: [
      'You have reached your specified API usage limits',
      'You have reached your specified workspace API usage limits',
      'Your credit balance is too low to access the Anthropic API',
    ],
  },
  starter: { apiKeyEnv: 'ANTHROPIC_API_KEY', models: [] },
  modelList: listAt('/v1/models', 'data', ({ id }) => ({ id, operations: ['messages', 'count_tokens', 'chat'] })),
  chat: '/v1/chat/completions',
  // Anthropic's own paths take no bearer key; its OpenAI-compatible chat is documented with nothing else.
  chatAuth: bearer(),
  chatFacts:
    'to the path of Anthropic for OpenAI clients, which does not cache prompts and ignores some parameters (unverified)',
  offers: {
    anthropic: {
      messages: {
        path: '/v1/messages',
        facts:
          'bytes pass; `anthropic-version` and `anthropic-beta` go with them, the version `2023-06-01` where the client sends none',
      },
      count_tokens: { path: '/v1/messages/count_tokens', facts: 'bytes pass' },
    },
  },
});
