/** Fixture of NVIDIA NIM, by the published schemas of embeddings, completions and ranking. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { completionAsked, completionOf, embeddingsOf, text, textOrTexts } from './openai-shapes.ts';
import { ranked, tokensIn } from './wire.ts';

const model = 'nvidia/model-1';

const completionsBody = completionAsked.extend({
  prompt: textOrTexts,
});
const embeddingsBody = z.object({
  model: text,
  input: textOrTexts,
  input_type: z.enum(['query', 'passage']),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  truncate: z.enum(['NONE', 'START', 'END']).default('NONE'),
  dimensions: z.int().min(1).optional(),
  user: text.optional(),
});
const rankingBody = z.object({
  model: text,
  query: z.object({ text }),
  passages: z.array(z.object({ text })).max(512),
  truncate: z.enum(['NONE', 'END']).default('END'),
});

export default defineFixture({
  family: 'nvidia',
  chat: '/v1/chat/completions',
  model,
  basePath: '/v1',

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/completions') {
      const asked = completionsBody.parse(body);
      return completionOf(typeof asked.prompt === 'string' ? [asked.prompt] : asked.prompt, asked);
    }
    if (path === '/v1/embeddings') {
      const asked = embeddingsBody.parse(body);
      return embeddingsOf(typeof asked.input === 'string' ? [asked.input] : asked.input, asked);
    }
    if (path === '/v1/ranking') {
      const { query, passages } = rankingBody.parse(body);
      const documents = passages.map((passage) => passage.text);
      const tokens = tokensIn(query.text, ...documents);
      return {
        body: {
          rankings: ranked(query.text, documents).map(({ index, score }) => ({ index, logit: score })),
          usage: { prompt_tokens: tokens, total_tokens: tokens },
        },
      };
    }
    return { status: 404, body: { detail: 'Not Found' } };
  },

  error: (status, message) => ({
    status,
    body: { object: 'error', message, detail: {}, type: 'invalid_request_error' },
  }),

  pairs: [
    {
      name: 'completions pass byte for byte, also with a list of prompts',
      route: '/v1/completions',
      ask: '{"model":"m","prompt":["a","b"],"temperature":1.0}',
      wire: [
        {
          path: '/v1/completions',
          body: `{"model":"${model}","prompt":["a","b"],"temperature":1.0}`,
          reply: { body: '{"choices":[{"index":0,"text":"c"}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'without an input_type, embeddings are sent with input_type passage',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x', truncate: 'END', dimensions: 2 },
      wire: [
        {
          path: '/v1/embeddings',
          body: {
            input_type: 'passage',
            truncate: 'END',
            model,
            input: 'x',
            dimensions: 2,
            encoding_format: 'float',
          },
          reply: {
            body: '{"object":"list","data":[{"index":0,"embedding":[0.50,-1e-3],"object":"embedding"}],"model":"model-1","usage":{"prompt_tokens":4,"total_tokens":4}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'nvidia' },
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.50,-1e-3]}],"model":"model-1","usage":{"prompt_tokens":4,"total_tokens":4}}',
      },
    },
    {
      name: 'an upstream model name that ends in -query is sent input_type query',
      route: '/v1/embeddings',
      target: { model: 'nvidia/model-1-query' },
      ask: { model: 'm', input: ['x'], encoding_format: 'base64' },
      wire: [
        {
          path: '/v1/embeddings',
          body: {
            input_type: 'query',
            model: 'nvidia/model-1-query',
            input: ['x'],
            encoding_format: 'base64',
          },
          reply: {
            body: {
              object: 'list',
              data: [{ index: 0, embedding: 'AAAAPwAAgL8=' }],
              model,
              usage: { prompt_tokens: 4, total_tokens: 4 },
            },
          },
        },
      ],
      answer: { body: embeddingsAnswer(['AAAAPwAAgL8='], 4, model) },
    },
    {
      name: "on the legacy engines path, input_type comes from the target's defaults",
      route: '/v1/engines/m/embeddings',
      target: { defaults: { input_type: 'query' } },
      ask: { input: ['x'] },
      wire: [
        {
          path: '/v1/embeddings',
          body: { input_type: 'query', model, input: ['x'], encoding_format: 'float' },
          reply: { body: { data: [{ index: 0, embedding: [1] }], usage: { prompt_tokens: 1, total_tokens: 1 } } },
        },
      ],
      answer: { body: embeddingsAnswer([[1]], 1, model) },
    },
    {
      name: "rerank scores are NVIDIA's logits with their digits, limited to top_n",
      route: '/v1/rerank',
      ask: {
        model: 'm',
        query: { text: 'q' },
        documents: ['a', { text: 'b' }, 'c'],
        top_n: 2,
        return_documents: true,
        truncate: 'NONE',
      },
      wire: [
        {
          path: '/v1/ranking',
          body: {
            truncate: 'NONE',
            model,
            query: { text: 'q' },
            passages: [{ text: 'a' }, { text: 'b' }, { text: 'c' }],
          },
          reply: {
            body: '{"rankings":[{"index":1,"logit":7.10},{"index":0,"logit":-0.50},{"index":2,"logit":-1.2e1}],"usage":{"prompt_tokens":9,"total_tokens":9}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'nvidia' },
        body: `{"id":"rerank-{exchange}","object":"list","model":"${model}","results":[{"index":1,"relevance_score":7.10,"document":{"text":"b"}},{"index":0,"relevance_score":-0.50,"document":{"text":"a"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":9,"total_tokens":9}}`,
      },
    },
    ...(
      [
        [true, 'END'],
        [false, 'NONE'],
      ] as const
    ).map(([truncate, end]) => ({
      name: `a TEI client's truncate field becomes NVIDIA's truncate: ${truncate}`,
      route: '/v1/rerank',
      headers: { 'x-postern-shape': 'tei' },
      ask: { query: 'q', texts: ['a'], truncate, model: 'm' },
      wire: [
        {
          path: '/v1/ranking',
          body: { truncate: end, model, query: { text: 'q' }, passages: [{ text: 'a' }] },
          reply: { body: '{"rankings":[{"index":0,"logit":-3.0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': 'nvidia' }, body: '[{"index":0,"score":-3.0}]' },
    })),
    {
      name: "a hosted reranker is called at the model's own path",
      route: '/v1/rerank',
      upstream: { options: { ranking_path: '/v1/retrieval/nvidia/{model}/reranking' } },
      target: { model: 'rerank-qa_1b.v2' },
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: '/v1/retrieval/nvidia/rerank-qa_1b.v2/reranking',
          body: { model: 'rerank-qa_1b.v2', query: { text: 'q' }, passages: [{ text: 'a' }] },
          reply: { body: { rankings: [{ index: 0, logit: -3 }] } },
        },
      ],
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model: 'rerank-qa_1b.v2',
          results: [{ index: 0, relevance_score: -3 }],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 2, total_tokens: 2 },
        },
      },
    },
    {
      name: 'the detail field of an error becomes its message',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: '/v1/ranking',
          body: { model, query: { text: 'q' }, passages: [{ text: 'a' }] },
          reply: { status: 404, body: { detail: 'Function not found' } },
        },
      ],
      answer: {
        status: 404,
        body: {
          error: {
            message: 'Function not found',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { detail: 'Function not found' },
          },
        },
      },
    },
  ],
});
