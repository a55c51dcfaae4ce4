/** Declares llama.cpp's server as an upstream family: OpenAI's format, and a reranker in Jina's format. */

import { openaiModelList } from './wire-formats/model-lists.ts';
import { openaiCompatible } from './wire-formats/openai-compatible.ts';
import { standardRerank } from './wire-formats/rerank/standard-rerank.ts';

export default openaiCompatible({
  id: 'llamacpp',
  title: 'llama.cpp',
  baseUrl: 'http://127.0.0.1:8080',
  modelList: { ...openaiModelList('/v1/models'), takesAnyName: true },
  streamEvents: 'any',
  countsOneChoice: true,
  signs: [
    { status: 503, contains: 'Loading model', means: 'loading' },
    // Exceptions of llama.cpp's parser are the request's fault, but come as a server error.
    { status: 500, contains: '[json.exception.', means: 400 },
    { status: 500, contains: 'type must be ', means: 400 },
  ],
  refusesHalfCharacters: true,
  at: '/v1',
  completions: {
    facts:
      "token IDs are the model's own; returns 503 while it loads; counts only one of several prompts or choices, so usage is estimated",
  },
  embeddings: {
    misreadsTokens: true,
    lacksDimensions: true,
    // llama.cpp answers 500, "type must be string, but is null".
    refusesNull: ['encoding_format'],
    facts: 'needs `--embeddings` and a pooling mode; `dimensions` has no effect',
  },
  own: () => ({
    rerank: {
      path: '/v1/rerank',
      // Whether llama.cpp takes null is unverified.
      translation: standardRerank({ own: [], echoes: 'never', refusesNull: ['top_n'] }),
      facts:
        'needs `--reranking`; takes texts only; scores of some models are logits; results are sorted, except by builds of 2025 and before',
    },
  }),
});
