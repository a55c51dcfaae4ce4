/** Declares Ollama as an upstream family: OpenAI's format, or for embeddings Ollama's own, which has more options. */

import type { Offer } from '../core/family.ts';
import { type EmbeddingWireFormat, translateEmbeddings } from './wire-formats/embeddings/embeddings.ts';
import { openaiCompatible } from './wire-formats/openai-compatible.ts';
import { at, countIn, listIn, objectIn, textIn } from './wire-formats/reading.ts';

const native: EmbeddingWireFormat = {
  hasDimensions: true,
  own: ['truncate', 'options', 'keep_alive'],
  speaks: 'ollama',
  // Always a list: a single empty text would count as no input.
  write: ({ items, model, dimensions, more }) => ({ body: { ...more, model, input: items, dimensions } }),
  read({ body }) {
    const { embeddings, model } = objectIn(body, 'the answer');
    return {
      vectors: listIn(embeddings, 'embeddings'),
      promptTokens: countIn(at(body, 'prompt_eval_count')),
      model: textIn(model),
    };
  },
};

const nativeEmbeddings: Offer = {
  path: '/api/embed',
  speaks: 'ollama',
  translation: translateEmbeddings(native),
  facts: '`truncate`, `options` and `keep_alive` are served; longer texts are truncated unless `truncate` is false',
};

export default openaiCompatible({
  id: 'ollama',
  title: 'Ollama',
  baseUrl: 'http://127.0.0.1:11434',
  versions: ['/v1', '/api'],
  modelList: '/v1/models',
  at: '/v1',
  options: {
    api: {
      description: "The API for embeddings: `v1` is OpenAI's format, `native` is Ollama's own.",
      values: ['v1', 'native'],
      default: 'v1',
    },
  },
  completions: {
    onePromptACall: true,
    misreadsTokens: true,
    facts: 'one prompt a call; ignores `n`, `best_of`, `echo`, `logit_bias` and `user`; the first call loads the model',
  },
  embeddings: {
    misreadsTokens: true,
    facts: 'longer texts are truncated silently; the first call loads the model',
  },
  others: () => ({
    ollama: {
      chat: { path: '/api/chat', facts: 'bytes pass, for its own clients' },
      completions: { path: '/api/generate', isUnlimited: true, facts: 'bytes pass, for its own clients' },
    },
  }),
  own: ({ api }) => (api === 'native' ? { embeddings: nativeEmbeddings } : {}),
});
