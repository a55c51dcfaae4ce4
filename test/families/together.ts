/** Fixture of Together AI, by its clients in public gateways and SDKs. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { completionAsked, completionOf, embeddingsOf, ranksOf, text, textOrTexts, texts } from './openai-shapes.ts';
import { tokensIn } from './wire.ts';

const model = 'org/model-1';

const completionsBody = completionAsked.extend({
  prompt: text,
  repetition_penalty: z.number().optional(),
});
/** No base64, as far as is known: what asks for it gets floats. */
const embeddingsBody = z.object({ model: text, input: textOrTexts, dimensions: z.int().min(1).nullish() });
const rerankBody = z.object({
  model: text,
  query: text,
  documents: z.array(z.union([text, z.object({ text })])).max(1024),
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
  rank_fields: texts.optional(),
});

export default defineFixture({
  family: 'together',
  chat: '/v1/chat/completions',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/completions') {
      const asked = completionsBody.parse(body);
      return completionOf([asked.prompt], asked);
    }
    if (path === '/v1/embeddings') {
      const { input, ...asked } = embeddingsBody.parse(body);
      return embeddingsOf(typeof input === 'string' ? [input] : input, { ...asked, encoding_format: 'float' });
    }
    if (path === '/v1/rerank') {
      const asked = rerankBody.parse(body);
      const tokens = tokensIn(asked.query);
      return {
        body: {
          object: 'rerank',
          id: 'r-1',
          model,
          results: ranksOf(asked.documents, asked),
          usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
        },
      };
    }
    return { status: 404, body: '' };
  },

  error: (status, message) => ({ status, body: { error: { message, type: 'invalid_request_error' } } }),

  pairs: [
    {
      name: "a completion of one prompt passes byte for byte, with Together's own parameters",
      route: '/v1/completions',
      ask: '{"model":"m","prompt":"a","repetition_penalty":1.0,"temperature":1.0}',
      wire: [
        {
          path: '/v1/completions',
          body: '{"model":"org/model-1","prompt":"a","repetition_penalty":1.0,"temperature":1.0}',
          reply: { body: '{"choices":[{"index":0,"text":"b"}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'embeddings with encoding_format float pass byte for byte',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":["a"],"encoding_format":"float"}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"org/model-1","input":["a"],"encoding_format":"float"}',
          reply: { body: '{"object":"list","data":[{"embedding":[0.50],"index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: "base64 is made from the upstream's floats, and missing usage is estimated",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', encoding_format: 'base64' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: 'a', encoding_format: 'float' },
          reply: { body: { object: 'list', data: [{ embedding: [0.5, -1], index: 0 }], model } },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'together', 'x-postern-usage': 'estimated' },
        body: embeddingsAnswer(['AAAAPwAAgL8='], 1, model),
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: 'x' },
      wire: [{ path: '/v1/embeddings', body: { model, input: 'x' }, reply: { body: { data: [{}] } } }],
    },
    {
      name: 'rerank of objects with rank_fields passes byte for byte',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":[{"text":"a","title":"t"}],"rank_fields":["title"],"top_n":1}',
      wire: [
        {
          path: '/v1/rerank',
          body: '{"model":"org/model-1","query":"q","documents":[{"text":"a","title":"t"}],"rank_fields":["title"],"top_n":1}',
          reply: { body: '{"results":[{"index":0,"relevance_score":0.50}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'an error without param and code gets the missing fields',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: 'x' },
          reply: { status: 404, body: { id: 'e-1', error: { message: 'No such model.', type: 'not_found' } } },
        },
      ],
      answer: {
        status: 404,
        headers: { 'x-postern-translated': 'together' },
        body: {
          error: {
            message: 'No such model.',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { id: 'e-1', error: { message: 'No such model.', type: 'not_found' } },
          },
        },
      },
    },
  ],
});
