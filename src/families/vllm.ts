/** Declares vLLM as an upstream family: OpenAI's format with the model's own token IDs, and a reranker that always returns its documents. */

import type { Asked, Translation } from '../core/translation.ts';
import { isJsonList, isJsonObject, type Json } from '../lib/json/json-text.ts';
import { openaiCompatible } from './wire-formats/openai-compatible.ts';
import { type StandardRerankFacts, standardRerank } from './wire-formats/rerank/standard-rerank.ts';

const facts: StandardRerankFacts = {
  own: ['max_tokens_per_doc', 'max_tokens_per_query', 'priority'],
  echoes: 'always',
  refusesNull: ['top_n', 'return_documents', 'max_tokens_per_doc'],
  zeroIsAll: true,
};
const ofTexts = standardRerank(facts);
const ofParts = standardRerank({ ...facts, takesObjects: true });

/** Sends objects with `content` as they are, in vLLM's own format; of other objects, which it does not know, it sends the text. */
const rerank: Translation = {
  ...ofTexts,
  ask: (asked) => (holdsParts(asked) ? ofParts : ofTexts).ask(asked),
};

function holdsParts({ body: { query, documents } }: Asked): boolean {
  const hasParts = (value: Json | undefined): boolean => isJsonObject(value) && value.content !== undefined;
  return hasParts(query) || (isJsonList(documents) && documents.some(hasParts));
}

export default openaiCompatible({
  id: 'vllm',
  title: 'vLLM',
  baseUrl: 'http://127.0.0.1:8000',
  modelList: '/v1/models',
  streamEvents: 'any',
  at: '/v1',
  completions: {
    facts: "token IDs are the model's own; refuses `suffix`; ignores unknown parameters, such as `best_of`",
  },
  embeddings: {
    misreadsTokens: true,
    refusesNull: ['encoding_format'],
    forOtherNumbers: ['embed_dtype', 'endianness'],
    facts: '`messages` in place of `input`; `dimensions` for Matryoshka models only, refused by others',
  },
  others: () => ({
    pooling: { embeddings: { path: '/pooling', facts: 'bytes pass: hidden states, or a vector of each token' } },
    classes: { embeddings: { path: '/classify', facts: "bytes pass: probabilities of the model's labels" } },
    score: { rerank: { path: '/score', facts: 'bytes pass, pairs of all kinds' } },
  }),
  own: () => ({
    rerank: {
      path: '/v1/rerank',
      translation: rerank,
      facts: 'texts or `{content}` objects; returns documents unless `return_documents` is false',
    },
  }),
});
