/** Fixture of Fireworks AI: OpenAI's format, and rerank results under another name. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { completionAsked, completionOf, embeddingsOf, ranksOf, text, textOrTexts, texts } from './openai-shapes.ts';
import { tokensIn } from './wire.ts';

const model = 'accounts/a/models/model-1';
const base = '/inference/v1';

const completionsBody = completionAsked.extend({
  prompt: textOrTexts,
});
/** No base64, as far as is known: what asks for it gets floats. */
const embeddingsBody = z.object({ model: text, input: textOrTexts, dimensions: z.int().min(1).nullish() });
const rerankBody = z.object({
  model: text,
  query: text,
  documents: texts,
  top_n: z.int().min(1).optional(),
  return_documents: z.boolean().default(true),
});

const fault = (message: string) => ({ fault: { faultstring: message, detail: { errorcode: 'policies.Refused' } } });

export default defineFixture({
  family: 'fireworks',
  chat: '/inference/v1/chat/completions',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === `${base}/completions`) {
      const asked = completionsBody.parse(body);
      return completionOf(typeof asked.prompt === 'string' ? [asked.prompt] : asked.prompt, asked);
    }
    if (path === `${base}/embeddings`) {
      const { input, ...asked } = embeddingsBody.parse(body);
      return embeddingsOf(typeof input === 'string' ? [input] : input, { ...asked, encoding_format: 'float' });
    }
    if (path === `${base}/rerank`) {
      const asked = rerankBody.parse(body);
      const data = ranksOf(asked.documents, asked).map(({ document, ...rank }) => ({
        ...rank,
        ...(document && { document: document.text }),
      }));
      const tokens = tokensIn(asked.query);
      return {
        body: {
          object: 'list',
          model,
          data,
          usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 },
        },
      };
    }
    return { status: 404, body: fault('no such path') };
  },

  error: (status, message) => ({ status, body: fault(message) }),

  pairs: [
    {
      name: 'completions pass byte for byte, also with a list of prompts',
      route: '/v1/completions',
      ask: '{"model":"m","prompt":["a","b"]}',
      wire: [
        {
          path: `${base}/completions`,
          body: `{"model":"${model}","prompt":["a","b"]}`,
          reply: { body: '{"choices":[{"index":0,"text":"c"}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'embeddings without encoding_format pass byte for byte, with dimensions',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":"a","dimensions":2}',
      wire: [
        {
          path: `${base}/embeddings`,
          body: `{"model":"${model}","input":"a","dimensions":2}`,
          reply: { body: '{"object":"list","data":[{"embedding":[0.50,1.0],"index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'token IDs are sent as the text they encode',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [[9906, 1917]], user: 'u' },
      wire: [
        {
          path: `${base}/embeddings`,
          body: { model, input: ['Hello world'], user: 'u' },
          reply: {
            body: {
              object: 'list',
              data: [{ embedding: [1, 2], index: 0 }],
              usage: { prompt_tokens: 2, total_tokens: 2 },
            },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'fireworks' },
        body: embeddingsAnswer([[1, 2]], 2, model),
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: 'x' },
      wire: [{ path: `${base}/embeddings`, body: { model, input: 'x' }, reply: { body: { data: [{}] } } }],
    },
    {
      name: "rerank results in Fireworks' data list are returned as results, with the client's document objects",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', { text: 'b', title: 't' }], top_n: 1, return_documents: true },
      wire: [
        {
          path: `${base}/rerank`,
          body: { model, query: 'q', documents: ['a', 'b'], top_n: 1, return_documents: false },
          reply: {
            body: '{"object":"list","model":"model-1","data":[{"index":1,"relevance_score":0.9870}],"usage":{"prompt_tokens":5,"total_tokens":5}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'fireworks' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"model-1","results":[{"index":1,"relevance_score":0.9870,"document":{"text":"b","title":"t"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":5,"total_tokens":5}}',
      },
    },
    {
      name: 'documents that the client did not request are removed from the rerank results',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: `${base}/rerank`,
          body: { model, query: 'q', documents: ['a'], return_documents: false },
          reply: { body: '{"data":[{"index":0,"relevance_score":1e-2,"document":"a"}]}' },
        },
      ],
      answer: {
        body: `{"id":"rerank-{exchange}","object":"list","model":"${model}","results":[{"index":0,"relevance_score":1e-2}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":2,"total_tokens":2}}`,
      },
    },
    {
      name: "Fireworks' errors are returned in OpenAI's shape",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: `${base}/rerank`,
          body: { model, query: 'q', documents: ['a'], return_documents: false },
          reply: { status: 401, body: fault('Invalid ApiKey') },
        },
      ],
      answer: {
        status: 401,
        body: {
          error: {
            message: 'Invalid ApiKey',
            type: 'authentication_error',
            param: null,
            code: 'upstream_denied',
            upstream: fault('Invalid ApiKey'),
          },
        },
      },
    },
  ],
});
