/** Declares Together AI as an upstream family: OpenAI's format. */

import { listAt, operationsFor } from './wire-formats/model-lists.ts';
import { openaiCompatible } from './wire-formats/openai-compatible.ts';

export default openaiCompatible({
  id: 'together',
  title: 'Together AI',
  baseUrl: 'https://api.together.xyz',
  at: '/v1',
  starter: { apiKeyEnv: 'TOGETHER_API_KEY', models: [] },
  // Its list is a bare array; for chat models it does not show whether they complete texts, too.
  modelList: listAt('/v1/models', 'data', ({ id, type }) => ({
    id,
    operations:
      type === 'chat'
        ? undefined
        : operationsFor([type], {
            language: 'completions',
            code: 'completions',
            embedding: 'embeddings',
            rerank: 'rerank',
          }),
  })),
  completions: {
    onePromptACall: true,
    misreadsTokens: true,
    facts: 'lists of prompts are sent one a call (unverified whether lists are supported); `safety_model` is checked',
  },
  embeddings: {
    misreadsTokens: true,
    lacksBase64: true,
    facts:
      'base64 is encoded by the gateway (unverified whether the service offers it); the limit of inputs is unknown',
  },
  rerank: {
    own: ['rank_fields'],
    // That it has no null is unverified.
    refusesNull: ['rank_fields'],
    takesObjects: true,
    maxItems: 1024,
    facts: 'texts or objects; 1,024 documents a call (unverified)',
  },
});
