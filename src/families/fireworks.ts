/** Declares Fireworks AI as an upstream family: OpenAI's format. */

import { openaiCompatible } from './wire-formats/openai-compatible.ts';

export default openaiCompatible({
  id: 'fireworks',
  title: 'Fireworks AI',
  baseUrl: 'https://api.fireworks.ai',
  versions: ['/inference/v1', '/inference'],
  modelList: '/inference/v1/models',
  at: '/inference/v1',
  starter: { apiKeyEnv: 'FIREWORKS_API_KEY', models: [] },
  completions: {
    misreadsTokens: true,
    facts: 'lists of prompts pass (unverified)',
  },
  embeddings: {
    misreadsTokens: true,
    lacksBase64: true,
    facts:
      'base64 is encoded by the gateway (unverified whether the service offers it); the limit of inputs is unknown',
  },
  rerank: {
    own: [],
    echoes: 'otherwise',
    isAlwaysRead: true,
    facts: 'its list is named `data`, so each response is translated',
  },
});
