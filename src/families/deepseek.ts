/** Declares DeepSeek as an upstream family: it completes text between a prompt and a suffix, in its beta API only. */

import { openaiCompatible } from './wire-formats/openai-compatible.ts';

export default openaiCompatible({
  id: 'deepseek',
  title: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  versions: ['/beta', '/v1'],
  modelList: '/models',
  at: '/beta',
  starter: { apiKeyEnv: 'DEEPSEEK_API_KEY', models: [{ id: 'deepseek-chat', operations: ['chat'] }] },
  // 402: no balance (unverified).
  errors: { withheld: [402] },
  completions: {
    onePromptACall: true,
    misreadsTokens: true,
    facts: 'under `/beta` only; one prompt a call; 4,096 output tokens (unverified)',
  },
});
