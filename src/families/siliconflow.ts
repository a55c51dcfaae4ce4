/** Declares SiliconFlow as an upstream family: OpenAI's format; outside China its address is api.siliconflow.com. */

import { openaiCompatible } from './wire-formats/openai-compatible.ts';

export default openaiCompatible({
  id: 'siliconflow',
  title: 'SiliconFlow',
  baseUrl: 'https://api.siliconflow.cn',
  modelList: '/v1/models',
  at: '/v1',
  starter: {
    apiKeyEnv: 'SILICONFLOW_API_KEY',
    models: [
      { id: 'BAAI/bge-m3', operations: ['embeddings'] },
      { id: 'BAAI/bge-reranker-v2-m3', operations: ['rerank'] },
    ],
  },
  completions: {
    onePromptACall: true,
    misreadsTokens: true,
    facts: 'one prompt a call (unverified); `suffix` for fill-in-the-middle models',
  },
  embeddings: {
    maxItems: 32,
    misreadsTokens: true,
    facts: '32 inputs a call; `dimensions` for Qwen3 models only, refused by others',
  },
  rerank: {
    own: ['max_chunks_per_doc', 'overlap_tokens'],
    // That `max_chunks_per_doc` may not be null is unverified.
    refusesNull: ['max_chunks_per_doc'],
    facts: 'takes texts only; `max_chunks_per_doc` and `overlap_tokens` for BGE and BCE models only',
  },
});
