/** Fixture of llama.cpp's server, by its README and builds up to b10603. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { anyInput, completionOf, embeddingsOf, text, texts, toTexts } from './openai-shapes.ts';
import { ranked, tokensIn } from './wire.ts';

const model = 'bge-reranker-v2-m3-Q8_0.gguf';

const completionsBody = z.object({
  model: text,
  prompt: anyInput,
  n: z.int().min(1).nullish(),
  echo: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
});
/** `dimensions` changes nothing, and the format has no null. */
const embeddingsBody = z.object({
  model: text,
  input: anyInput,
  encoding_format: z.enum(['float', 'base64']).optional(),
});
const rerankBody = z.object({
  model: text,
  query: text,
  documents: texts.min(1),
  top_n: z.int().optional(),
  // It would answer in another shape.
  texts: z.undefined().optional(),
});

export default defineFixture({
  family: 'llamacpp',
  chat: '/v1/chat/completions',
  model,
  takesTokenIds: 'completions',

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/completions') {
      const { prompt, ...asked } = completionsBody.parse(body);
      return completionOf(toTexts(prompt), asked);
    }
    if (path === '/v1/embeddings') {
      const { input, ...asked } = embeddingsBody.parse(body);
      return embeddingsOf(toTexts(input), asked);
    }
    if (path !== '/v1/rerank')
      return { status: 404, body: { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } } };
    const { query, documents, top_n: top } = rerankBody.parse(body);
    const tokens = tokensIn(query, ...documents);
    return {
      body: {
        model,
        object: 'list',
        usage: { prompt_tokens: tokens, total_tokens: tokens },
        results: ranked(query, documents)
          .slice(0, top)
          .map(({ index, score }) => ({ index, relevance_score: score })),
      },
    };
  },

  error: (status, message) => ({ status, body: { error: { code: status, message, type: 'invalid_request_error' } } }),

  pairs: [
    {
      name: 'a completion passes byte for byte',
      route: '/v1/completions',
      ask: '{"model":"m", "prompt":["a",[1,2]], "n_probs":0}',
      wire: [
        {
          path: '/v1/completions',
          body: '{"model":"bge-reranker-v2-m3-Q8_0.gguf", "prompt":["a",[1,2]], "n_probs":0}',
          reply: { body: '{"choices":[{"text":"b","index":0}],"timings":{}}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'embeddings pass byte for byte',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":"x","encoding_format":"base64"}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"bge-reranker-v2-m3-Q8_0.gguf","input":"x","encoding_format":"base64"}',
          reply: { body: '{"data":[{"embedding":"AAAAPw==","index":0,"encoding_format":"base64"}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'dimensions are dropped and listed, token IDs are sent as text, and base64 is passed on',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', [1578]], encoding_format: 'base64', dimensions: 4 },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a', ' again'], encoding_format: 'base64' },
          reply: {
            body: {
              object: 'list',
              data: [
                { embedding: 'AAAAPw==', index: 0, encoding_format: 'base64' },
                { embedding: 'AACAPw==', index: 1, encoding_format: 'base64' },
              ],
              usage: { prompt_tokens: 4, total_tokens: 4 },
            },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'llamacpp', 'x-postern-ignored': 'dimensions' },
        body: embeddingsAnswer(['AAAAPw==', 'AACAPw=='], 4, model),
      },
    },
    {
      name: 'with unsupported: refuse, dimensions are refused by name',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', dimensions: 4 },
      target: { unsupported: 'refuse' },
      wire: [],
      answer: {
        status: 400,
        body: {
          error: {
            message:
              'The field "dimensions" cannot be served: the upstream "up" has no such parameter; leave it out, or ask the operator for a target that can.',
            type: 'invalid_request_error',
            param: 'dimensions',
            code: 'unsupported_parameter',
          },
        },
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['x'] },
      wire: [{ path: '/v1/embeddings', body: { model, input: ['x'] }, reply: { body: { data: [{}] } } }],
    },
    {
      name: 'rerank results pass byte for byte',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":["a","b"],"top_n":1}',
      wire: [
        {
          path: '/v1/rerank',
          body: `{"model":"${model}","query":"q","documents":["a","b"],"top_n":1}`,
          reply: { body: '{"model":"bge","object":"list","results":[{"index":1,"relevance_score":-3.50e0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'return_documents: the gateway adds each document to its rerank result',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', 'b', { text: 'c' }], return_documents: true },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a', 'b', 'c'] },
          reply: {
            body: '{"model":"bge","object":"list","usage":{"prompt_tokens":9,"total_tokens":9},"results":[{"index":1,"relevance_score":3.50e0},{"index":2,"relevance_score":-0.5},{"index":0,"relevance_score":-11.250}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'llamacpp' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"bge","results":[{"index":1,"relevance_score":3.50e0,"document":{"text":"b"}},{"index":2,"relevance_score":-0.5,"document":{"text":"c"}},{"index":0,"relevance_score":-11.250,"document":{"text":"a"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":9,"total_tokens":9}}',
      },
    },
    {
      name: "a 503 while the server loads its model is returned in OpenAI's error shape",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: Array.from({ length: 2 }, () => ({
        path: '/v1/embeddings',
        body: { model, input: 'x' },
        reply: { status: 503, body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } } },
      })),
      answer: {
        status: 503,
        headers: { 'x-postern-translated': 'llamacpp' },
        body: {
          error: {
            message: 'Loading model',
            type: 'upstream_error',
            param: null,
            code: 'upstream_failed',
            upstream: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } },
          },
        },
      },
    },
  ],
});
