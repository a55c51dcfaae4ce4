/** The server of llama.cpp: OpenAI's shapes, and a reranker whose older builds give the documents in their own order. */

import { openaiModelList } from './dialects/model-lists.ts';
import { openaiCompatible } from './dialects/openai-compatible.ts';
import { standardRerank } from './dialects/standard-rerank.ts';

export default openaiCompatible({
  id: 'llamacpp',
  title: 'llama.cpp',
  baseUrl: 'http://127.0.0.1:8080',
  versions: ['/v1'],
  modelList: openaiModelList('/v1/models'),
  at: (path) => `/v1${path}`,
  completions: { facts: "token IDs are the model's own; answers 503 while it loads" },
  embeddings: {
    misreadsTokens: true,
    lacksDimensions: true,
    // Its wording there is that of an error inside (unverified in builds of today).
    refusesNull: ['encoding_format'],
    facts: 'wants `--embeddings` and a pooling; one width, whatever `dimensions` says (unverified)',
  },
  own: () => ({
    rerank: {
      path: '/v1/rerank',
      translation: standardRerank({ own: [], echoes: 'never', isAlwaysRead: true }),
      facts: 'wants `--reranking`; takes texts only; scores of some models are logits (unverified)',
    },
  }),
});
