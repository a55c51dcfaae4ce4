/** Fixture of Jina AI, by its own summary of its API. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { ranksOf } from './openai-shapes.ts';
import { base64Of, tokensIn, vectorOf } from './wire.ts';

const model = 'jina-embeddings-v3';
const mostInputs = 2048;

const document = z.union([z.string(), z.object({ text: z.string() })]);
const embeddingsBody = z.object({
  model: z.string(),
  input: z.array(document),
  embedding_type: z.enum(['float', 'base64', 'binary', 'ubinary']).optional(),
  dimensions: z.int().optional(),
  // It has another name for it, and would ignore this one.
  encoding_format: z.never().optional(),
});
const rerankBody = z.object({
  model: z.string(),
  query: document,
  documents: z.array(document).max(2048),
  top_n: z.int().min(1).optional(),
  return_documents: z.boolean().optional(),
});

const textOf = (item: z.output<typeof document>) => (typeof item === 'string' ? item : item.text);
const reversed = <T>(list: readonly T[]): T[] => list.toReversed();
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `t${from + index}`);

/** In the order in which the service has them done. */
const inReverse = (count: number, from = 0) =>
  reversed(Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding: [from + index] })));

export default defineFixture({
  family: 'jina',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/embeddings') {
      const { input, embedding_type: kind, dimensions } = embeddingsBody.parse(body);
      if (input.length > mostInputs) return { status: 400, body: { detail: `more than ${mostInputs} inputs` } };
      const texts = input.map(textOf);
      const data = texts.map((text, index) => {
        const vector = vectorOf(text, dimensions);
        return { object: 'embedding', index, embedding: kind === 'base64' ? base64Of(vector) : vector };
      });
      const count = tokensIn(...texts);
      return {
        body: { model, object: 'list', usage: { total_tokens: count, prompt_tokens: count }, data: reversed(data) },
      };
    }
    if (path !== '/v1/rerank') return { status: 404, body: { detail: 'Not Found' } };
    const { query, documents, ...asked } = rerankBody.parse(body);
    return {
      body: {
        model,
        object: 'list',
        usage: { total_tokens: tokensIn(textOf(query), ...documents.map(textOf)) },
        results: ranksOf(documents, { return_documents: true, ...asked, query: textOf(query) }),
      },
    };
  },

  error: (status, message) => ({ status, body: { detail: message } }),

  pairs: [
    {
      name: 'binary vectors (ubinary) are requested and returned as they are',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a'], output_dtype: 'ubinary' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a'], embedding_type: 'ubinary' },
          reply: {
            body: {
              model,
              object: 'list',
              usage: { total_tokens: 1, prompt_tokens: 1 },
              data: [{ object: 'embedding', index: 0, embedding: [1, 255] }],
            },
          },
        },
      ],
      answer: { body: embeddingsAnswer([[1, 255]], 1, model) },
    },
    {
      name: "a list of texts and images is sent, and vectors are returned by index with Jina's digits",
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', { image: 'https://example.com/b.png' }], task: 'text-matching', user: 'u' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { task: 'text-matching', model, input: ['a', { image: 'https://example.com/b.png' }] },
          reply: {
            body: '{"model":"jina-embeddings-v3","object":"list","usage":{"total_tokens":6,"prompt_tokens":0},"data":[{"index":1,"embedding":[1.50]},{"index":0,"embedding":[1e-1]}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'jina', 'x-postern-ignored': 'user', 'x-postern-usage': null },
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1e-1]},{"object":"embedding","index":1,"embedding":[1.50]}],"model":"jina-embeddings-v3","usage":{"prompt_tokens":6,"total_tokens":6}}',
      },
    },
    {
      name: 'base64 is requested as embedding_type, and null fields are not sent',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', encoding_format: 'base64', dimensions: null, late_chunking: null },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a'], embedding_type: 'base64' },
          reply: {
            body: { model, data: [{ index: 0, embedding: 'AAAAPwAAgL8=' }], usage: { total_tokens: 1 } },
          },
        },
      ],
      answer: { body: embeddingsAnswer(['AAAAPwAAgL8='], 1, model) },
    },
    {
      name: '2,049 inputs take two calls; vectors stay in order and token counts are summed',
      route: '/v1/embeddings',
      ask: { model: 'm', input: numbered(2049) },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: numbered(2048) },
          reply: { body: { model, data: inReverse(2048), usage: { total_tokens: 4096, prompt_tokens: 4096 } } },
        },
        {
          path: '/v1/embeddings',
          body: { model, input: numbered(1, 2048) },
          reply: { body: { model, data: inReverse(1, 2048), usage: { total_tokens: 2, prompt_tokens: 2 } } },
        },
      ],
      answer: {
        body: {
          object: 'list',
          data: Array.from({ length: 2049 }, (_, index) => ({ object: 'embedding', index, embedding: [index] })),
          model,
          usage: { prompt_tokens: 4098, total_tokens: 4098 },
        },
      },
    },
    {
      name: 'inputs with late_chunking are never split, even beyond the maximum',
      route: '/v1/embeddings',
      ask: { model: 'm', input: numbered(2049), late_chunking: true },
      wire: [
        {
          path: '/v1/embeddings',
          body: { late_chunking: true, model, input: numbered(2049) },
          reply: { status: 400, body: { detail: 'more than 2048 inputs' } },
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'more than 2048 inputs',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { detail: 'more than 2048 inputs' },
          },
        },
      },
    },
    {
      name: 'an answer with a duplicate index gives 502',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'] },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a', 'b'] },
          reply: {
            body: {
              data: [
                { index: 0, embedding: [1] },
                { index: 0, embedding: [2] },
              ],
            },
          },
        },
      ],
      answer: {
        status: 502,
        body: {
          error: {
            message:
              "The upstream's answer does not fit the request (index 0 stands twice); try again, and tell the operator if it stays so.",
            type: 'upstream_error',
            param: null,
            code: 'upstream_protocol_error',
          },
        },
      },
    },
    {
      name: "Jina's embedding_type field is refused by name",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', embedding_type: ['float', 'binary'] },
      wire: [],
      answer: {
        status: 400,
        body: {
          error: {
            message:
              'The field "embedding_type" cannot be served: the upstream "up" is asked for what "encoding_format" says, "float" or "base64"; leave it out, or ask the operator for a target that can.',
            type: 'invalid_request_error',
            param: 'embedding_type',
            code: 'unsupported_parameter',
          },
        },
      },
    },
    ...[['a', null], [[]], [1, 2, 'x']].map((input) => ({
      name: `an input that is neither text nor object is refused: ${JSON.stringify(input)}`,
      route: '/v1/embeddings',
      ask: { model: 'm', input },
      wire: [],
      answer: {
        status: 400,
        body: {
          error: {
            message:
              'The field "input" cannot be served: the upstream "up" takes texts and objects only; change it, or ask the operator for a target that can.',
            type: 'invalid_request_error',
            param: 'input',
            code: 'unsupported_parameter',
          },
        },
      },
    })),
    {
      name: 'document objects with rank_fields are sent as text made of these fields',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: [{ title: 'a', body: 'b', x: 1 }], rank_fields: ['title', 'body'] },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['title: a\nbody: b'], return_documents: false },
          reply: { body: { model, results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 3 } } },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'jina' },
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model,
          results: [{ index: 0, relevance_score: 0.5 }],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 3, total_tokens: 3 },
        },
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: 'a', dimensions: 1 },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a'], dimensions: 1 },
          reply: { body: { model, data: [{ index: 0, embedding: [1] }], usage: { total_tokens: 1 } } },
        },
      ],
      answer: { body: embeddingsAnswer([[1]], 1, model) },
    },
    {
      name: 'rerank passes byte for byte, also with objects',
      route: '/v1/rerank',
      ask: '{"model":"m","query":{"text":"q"},"documents":[{"image":"i"},"b"],"top_n":1.0}',
      wire: [
        {
          path: '/v1/rerank',
          body: '{"model":"jina-embeddings-v3","query":{"text":"q"},"documents":[{"image":"i"},"b"],"top_n":1.0}',
          reply: { body: '{"results":[{"index":1,"relevance_score":0.950,"document":{"text":"b"}}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'null fields of a rerank request are not sent',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'], top_n: null, return_documents: null },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a'], return_documents: false },
          reply: { body: { model, results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 3 } } },
        },
      ],
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model,
          results: [{ index: 0, relevance_score: 0.5 }],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 3, total_tokens: 3 },
        },
      },
    },
    {
      name: 'a list of validation errors becomes one message that names the fields',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['a'] },
          reply: {
            status: 422,
            body: { detail: [{ loc: ['body', 'input', 0], msg: 'is too long', type: 'value_error' }] },
          },
        },
      ],
      answer: {
        status: 422,
        body: {
          error: {
            message: 'input.0: is too long',
            type: 'invalid_request_error',
            param: 'input',
            code: 'upstream_refused',
            upstream: { detail: [{ loc: ['body', 'input', 0], msg: 'is too long', type: 'value_error' }] },
          },
        },
      },
    },
    {
      name: 'an error with only a message gets the missing fields',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: [] },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: [] },
          reply: { status: 422, body: { error: { message: 'documents is empty' } } },
        },
      ],
      answer: {
        status: 422,
        body: {
          error: {
            message: 'documents is empty',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { error: { message: 'documents is empty' } },
          },
        },
      },
    },
  ],
});
