/** Fixture of Voyage AI, by its docs and its Python client. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { base64Of, ranked, tokensIn, vectorOf } from './wire.ts';

const model = 'voyage-3.5';
const most = 1_000;

const embeddingsBody = z.object({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string())]),
  input_type: z.enum(['query', 'document']).nullish(),
  truncation: z.boolean().optional(),
  output_dimension: z.int().nullish(),
  output_dtype: z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary']).optional(),
  encoding_format: z.literal('base64').nullish(),
  // Names that it does not have.
  dimensions: z.never().optional(),
  user: z.never().optional(),
});
const rerankBody = z.object({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.string()),
  top_k: z.int().min(1).nullish(),
  return_documents: z.boolean().optional(),
  truncation: z.boolean().optional(),
  top_n: z.never().optional(),
});

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `t${from + index}`);
const vectors = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ object: 'embedding', embedding: [from + index], index }));
/** 40,000 tokens by our estimate. */
const long = (letter: string) => letter.repeat(120_000);

export default defineFixture({
  family: 'voyage',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/embeddings') {
      const parsed = embeddingsBody.safeParse(body);
      if (!parsed.success) return { status: 400, body: { detail: parsed.error.message } };
      const { input, output_dimension: width, encoding_format: format } = parsed.data;
      const texts = typeof input === 'string' ? [input] : input;
      if (texts.length > most) return { status: 400, body: { detail: `The batch size limit is ${most}.` } };
      const data = texts.map((text, index) => {
        const vector = vectorOf(text, width ?? undefined);
        return { object: 'embedding', embedding: format === 'base64' ? base64Of(vector) : vector, index };
      });
      return { body: { object: 'list', data, model, usage: { total_tokens: tokensIn(...texts) } } };
    }
    if (path !== '/v1/rerank') return { status: 404, body: { detail: 'Not Found' } };
    const parsed = rerankBody.safeParse(body);
    if (!parsed.success) return { status: 400, body: { detail: parsed.error.message } };
    const { query, documents, top_k: top, return_documents: withDocuments } = parsed.data;
    if (documents.length > most) return { status: 400, body: { detail: `The limit of documents is ${most}.` } };
    const data = ranked(query, documents)
      .slice(0, top ?? undefined)
      .map(({ index, score, text }) => ({ index, relevance_score: score, ...(withDocuments && { document: text }) }));
    return { body: { object: 'list', data, model, usage: { total_tokens: tokensIn(query, ...documents) } } };
  },

  error: (status, message) => ({ status, body: { detail: message } }),

  pairs: [
    {
      name: 'dimensions are sent as output_dimension, format float is not sent, and total_tokens counts as prompt tokens',
      route: '/v1/embeddings',
      ask: {
        model: 'm',
        input: 'a',
        dimensions: 2,
        encoding_format: 'float',
        input_type: 'query',
        truncation: false,
        user: 'u',
      },
      wire: [
        {
          path: '/v1/embeddings',
          body: { input_type: 'query', truncation: false, model, input: ['a'], output_dimension: 2 },
          reply: {
            body: '{"object":"list","data":[{"object":"embedding","embedding":[0.10,-2e-1],"index":0}],"model":"voyage-3.5","usage":{"total_tokens":3}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'voyage', 'x-postern-ignored': 'user', 'x-postern-usage': null },
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-2e-1]}],"model":"voyage-3.5","usage":{"prompt_tokens":3,"total_tokens":3}}',
      },
    },
    {
      name: 'base64 is requested and passed on, and null fields are not sent',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a'], encoding_format: 'base64', dimensions: null, input_type: null },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a'], encoding_format: 'base64' },
          reply: {
            body: { object: 'list', data: [{ embedding: 'AAAAPw==', index: 0 }], model, usage: { total_tokens: 1 } },
          },
        },
      ],
      answer: { body: embeddingsAnswer(['AAAAPw=='], 1, model) },
    },
    {
      name: 'base64 of int8 vectors is made by the gateway from requested lists',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a'], encoding_format: 'base64', output_dtype: 'int8', output_dimension: 2 },
      wire: [
        {
          path: '/v1/embeddings',
          body: { output_dtype: 'int8', output_dimension: 2, model, input: ['a'] },
          reply: { body: { data: [{ embedding: [1, -1], index: 0 }], model, usage: { total_tokens: 1 } } },
        },
      ],
      answer: { body: embeddingsAnswer(['AACAPwAAgL8='], 1, model) },
    },
    {
      name: '1,001 embedding inputs take two calls',
      route: '/v1/embeddings',
      ask: { model: 'm', input: numbered(1_001) },
      wire: [
        { body: numbered(1_000), data: vectors(1_000), total: 2_000 },
        { body: numbered(1, 1_000), data: vectors(1).map((one) => ({ ...one, embedding: [1_000] })), total: 2 },
      ].map(({ body, data, total }) => ({
        path: '/v1/embeddings',
        body: { model, input: body },
        reply: { body: { object: 'list', data, model, usage: { total_tokens: total } } },
      })),
      answer: {
        body: {
          object: 'list',
          data: vectors(1_001),
          model,
          usage: { prompt_tokens: 2_002, total_tokens: 2_002 },
        },
      },
    },
    {
      name: 'embedding inputs over the token limit of one call are split into several calls',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b', 'c', 'd'].map(long) },
      target: { model: 'voyage-law-2' },
      wire: [['a', 'b', 'c'], ['d']].map((letters) => ({
        path: '/v1/embeddings',
        body: { model: 'voyage-law-2', input: letters.map(long) },
        reply: {
          body: {
            data: letters.map((letter, index) => ({ index, embedding: [letter.charCodeAt(0)] })),
            model: 'voyage-law-2',
            usage: { total_tokens: letters.length },
          },
        },
      })),
      answer: {
        body: {
          object: 'list',
          data: [97, 98, 99, 100].map((code, index) => ({ object: 'embedding', index, embedding: [code] })),
          model: 'voyage-law-2',
          usage: { prompt_tokens: 4, total_tokens: 4 },
        },
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['a'] },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a'] },
          reply: { body: { data: vectors(1), model, usage: { total_tokens: 1 } } },
        },
      ],
      answer: {
        body: { object: 'list', data: vectors(1), model, usage: { prompt_tokens: 1, total_tokens: 1 } },
      },
    },
    {
      name: "top_n is sent as top_k, and Voyage's data list is returned as results",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', { text: 'b' }, 'c'], top_n: 2, return_documents: true },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a', 'b', 'c'], top_k: 2 },
          reply: {
            body: '{"object":"list","data":[{"index":0,"relevance_score":2.2e-1},{"index":1,"relevance_score":0.910}],"model":"rerank-2.5","usage":{"total_tokens":26}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'voyage' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"rerank-2.5","results":[{"index":1,"relevance_score":0.910,"document":{"text":"b"}},{"index":0,"relevance_score":2.2e-1,"document":{"text":"a"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":26,"total_tokens":26}}',
      },
    },
    {
      name: "a Voyage client's rerank under /voyage passes byte for byte",
      route: '/voyage/v1/rerank',
      ask: '{"model":"m", "query":"q","documents":["a","b"],"top_k":1.0,"truncation":true,"return_documents":true}',
      wire: [
        {
          path: '/v1/rerank',
          body: `{"model":"${model}", "query":"q","documents":["a","b"],"top_k":1.0,"truncation":true,"return_documents":true}`,
          reply: {
            body: '{"object":"list","data":[{"index":1,"relevance_score":5e-1,"document":"b"}],"usage":{"total_tokens":4}}',
          },
        },
      ],
      answer: { headers: { 'x-postern-translated': null, 'x-postern-usage': null } },
    },
    {
      name: '1,001 documents take two calls, and the best results of both are returned',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: numbered(1_001), top_n: 1 },
      wire: [
        { documents: numbered(1_000), index: 999, score: 0.25 },
        { documents: numbered(1, 1_000), index: 0, score: 0.75 },
      ].map(({ documents, index, score }) => ({
        path: '/v1/rerank',
        body: { model, query: 'q', documents, top_k: 1 },
        reply: { body: { data: [{ index, relevance_score: score }], model, usage: { total_tokens: 10 } } },
      })),
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model,
          results: [{ index: 1_000, relevance_score: 0.75 }],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 20, total_tokens: 20 },
        },
      },
    },
    {
      name: "Voyage's errors (a detail field) are returned in OpenAI's shape",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: [] },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: [] },
          reply: { status: 400, headers: { 'request-id': 'r-1' }, body: { detail: 'No documents.' } },
        },
      ],
      answer: {
        status: 400,
        headers: { 'request-id': 'r-1', 'x-postern-translated': 'voyage' },
        body: {
          error: {
            message: 'No documents.',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { detail: 'No documents.' },
          },
        },
      },
    },
  ],
});
