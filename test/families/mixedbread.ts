/** Fixture of Mixedbread, by public clients; unknown behaviour is not enforced. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { embeddingsOf, textOrTexts } from './openai-shapes.ts';
import { ranked, tokensIn } from './wire.ts';

const model = 'mixedbread-ai/mxbai-rerank-large-v2';
const mostInputs = 256;
const standardTop = 10;

const embeddingsBody = z.object({
  model: z.string(),
  input: textOrTexts,
  dimensions: z.int().nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
});
const rerankBody = z.object({
  model: z.string(),
  query: z.string(),
  input: z.array(z.string()),
  top_k: z.int().min(1).optional(),
});

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `t${from + index}`);

export default defineFixture({
  family: 'mixedbread',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/embeddings') {
      const { input, ...asked } = embeddingsBody.parse(body);
      const texts = typeof input === 'string' ? [input] : input;
      if (texts.length > mostInputs) return { status: 422, body: { detail: `at most ${mostInputs} inputs` } };
      return embeddingsOf(texts, asked);
    }
    if (path !== '/v1/reranking') return { status: 404, body: { detail: 'Not Found' } };
    const { query, input, top_k: top = standardTop } = rerankBody.parse(body);
    const count = tokensIn(query, ...input);
    return {
      body: {
        object: 'list',
        model,
        usage: { prompt_tokens: count, total_tokens: count },
        data: ranked(query, input)
          .slice(0, top)
          .map(({ index, score }) => ({ index, score })),
      },
    };
  },

  error: (status, message) => ({ status, body: { detail: message } }),

  pairs: [
    {
      name: 'with base64: convert, floats are requested and converted to base64',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x', encoding_format: 'base64' },
      upstream: { base64: 'convert' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: 'x', encoding_format: 'float' },
          reply: { body: { data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 1, total_tokens: 1 } } },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'mixedbread' },
        body: embeddingsAnswer(['AAAAPw=='], 1, model),
      },
    },
    {
      name: 'embeddings pass byte for byte',
      route: '/v1/embeddings',
      ask: '{"model":"m", "input":"x", "normalized":true, "encoding_format":"int8"}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"mixedbread-ai/mxbai-rerank-large-v2", "input":"x", "normalized":true, "encoding_format":"int8"}',
          reply: { body: '{"data":[{"embedding":[12],"index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: '257 inputs take two calls, both with encoding_format base64',
      route: '/v1/embeddings',
      ask: { model: 'm', input: numbered(257), encoding_format: 'base64', dimensions: 1, prompt: null },
      wire: [numbered(256), numbered(1, 256)].map((input) => ({
        path: '/v1/embeddings',
        body: { model, input, dimensions: 1, encoding_format: 'base64' },
        reply: {
          body: {
            object: 'list',
            data: input.map((_, index) => ({ object: 'embedding', index, embedding: 'AAAAPw==' })),
            model,
            usage: { prompt_tokens: input.length, total_tokens: input.length },
          },
        },
      })),
      answer: {
        headers: { 'x-postern-translated': null, 'x-postern-calls': '2' },
        body: {
          object: 'list',
          data: numbered(257).map((_, index) => ({ object: 'embedding', index, embedding: 'AAAAPw==' })),
          model,
          usage: { prompt_tokens: 257, total_tokens: 257 },
        },
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: 'x' },
      wire: [{ path: '/v1/embeddings', body: { model, input: 'x' }, reply: { body: { data: [{}] } } }],
    },
    {
      name: 'rerank documents are sent as input, and without top_n all results are requested',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', { text: 'b' }], top_n: null, return_documents: true },
      wire: [
        {
          path: '/v1/reranking',
          body: { model, query: 'q', input: ['a', 'b'], top_k: 2 },
          reply: {
            body: '{"object":"list","model":"mxbai","usage":{"prompt_tokens":20,"total_tokens":20},"data":[{"index":1,"score":0.70},{"index":0,"score":3e-1}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'mixedbread' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"mxbai","results":[{"index":1,"relevance_score":0.70,"document":{"text":"b"}},{"index":0,"relevance_score":3e-1,"document":{"text":"a"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":20,"total_tokens":20}}',
      },
    },
    {
      name: "a client's top_k limits the rerank results",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', 'b'], top_k: 1 },
      wire: [
        {
          path: '/v1/reranking',
          body: { model, query: 'q', input: ['a', 'b'], top_k: 1 },
          reply: { body: { model, data: [{ index: 1, score: 0.5 }], usage: { total_tokens: 2 } } },
        },
      ],
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model,
          data: [{ index: 1, relevance_score: 0.5 }],
          results: [{ index: 1, relevance_score: 0.5 }],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 2, total_tokens: 2 },
        },
      },
    },
    {
      name: 'fewer rerank results than requested give 502',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', 'b'] },
      wire: [
        {
          path: '/v1/reranking',
          body: { model, query: 'q', input: ['a', 'b'], top_k: 2 },
          reply: { body: { data: [{ index: 1, score: 0.5 }] } },
        },
      ],
      answer: {
        status: 502,
        body: {
          error: {
            message:
              "The upstream's answer does not fit the request (1 results for 2 documents); try again, and tell the operator if it stays so.",
            type: 'upstream_error',
            param: null,
            code: 'upstream_protocol_error',
          },
        },
      },
    },
    {
      name: "Mixedbread's input field on rerank is refused by name",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'], input: ['b'] },
      wire: [],
      answer: {
        status: 400,
        body: {
          error: {
            message:
              'The field "input" cannot be served: the upstream "up" takes them as "documents" here; leave it out, or ask the operator for a target that can.',
            type: 'invalid_request_error',
            param: 'input',
            code: 'unsupported_parameter',
          },
        },
      },
    },
    {
      name: "a list of validation errors becomes one message, with the client's name of the field",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: [] },
      wire: [
        {
          path: '/v1/reranking',
          body: { model, query: 'q', input: [] },
          reply: { status: 422, body: { detail: [{ loc: ['body', 'input'], msg: 'is empty', type: 'too_short' }] } },
        },
      ],
      answer: {
        status: 422,
        body: {
          error: {
            message: 'input: is empty',
            type: 'invalid_request_error',
            param: 'documents',
            code: 'upstream_refused',
            upstream: { detail: [{ loc: ['body', 'input'], msg: 'is empty', type: 'too_short' }] },
          },
        },
      },
    },
  ],
});
