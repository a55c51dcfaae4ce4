/** Fixture of Infinity, by `infinity_server.py` and the schemas of versions 0.0.77 and 0.0.78. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { moderated, verdict } from './moderation-shapes.ts';
import { embeddingsOf } from './openai-shapes.ts';
import { isViolent, ranked, tokensIn } from './wire.ts';

const model = 'michaelfeil/bge-small-en-v1.5';

// It strips white space, too, which vectors that follow from the text would show.
const text = z.string().max(122_880);
const texts = z.array(text).min(1).max(2048);

const embeddingsBody = z.object({
  model: z.string(),
  input: z.union([texts, text]),
  // Neither has null.
  encoding_format: z.enum(['float', 'base64']).optional(),
  dimensions: z.int().min(0).optional(),
  user: z.string().nullish(),
});
const rerankBody = z.object({
  model: z.string(),
  query: text,
  documents: texts,
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().optional(),
});

const classifyBody = z.object({ model: z.string(), input: texts, raw_scores: z.boolean().optional() });

const toxic = '[{"label":"toxic","score":0.90},{"label":"obscene","score":6e-1}]';

function refused(field: string, message: string): WireReply {
  return { status: 422, body: { detail: [{ type: 'value_error', loc: ['body', field], msg: message }] } };
}

export default defineFixture({
  family: 'infinity',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === '/embeddings') {
      const { success, data } = embeddingsBody.safeParse(body);
      if (!success) return refused('input', 'Input should be fit');
      const { input, dimensions, ...asked } = data;
      return embeddingsOf(typeof input === 'string' ? [input] : input, { ...asked, dimensions: dimensions || null });
    }
    if (path === '/classify') {
      const { success, data } = classifyBody.safeParse(body);
      if (!success) return refused('input', 'Input should be fit');
      const tokens = tokensIn(...data.input);
      return {
        body: {
          object: 'classify',
          data: data.input.map((one) => {
            const score = isViolent(one) ? 0.9375 : 0.03125;
            return [
              { label: 'violence', score },
              { label: 'OK', score: 1 - score },
            ];
          }),
          model,
          usage: { prompt_tokens: tokens, total_tokens: tokens },
          id: 'infinity-1',
          created: 1_790_000_000,
        },
      };
    }
    if (path !== '/rerank') return { status: 404, body: { detail: 'Not Found' } };
    const { success, data } = rerankBody.safeParse(body);
    if (!success) return refused('documents', 'Input should be fit');
    const tokens = tokensIn(data.query, ...data.documents);
    return {
      body: {
        object: 'rerank',
        results: ranked(data.query, data.documents)
          .slice(0, data.top_n ?? undefined)
          .map(({ index, score, text: document }) => ({
            relevance_score: score,
            index,
            document: data.return_documents ? document : null,
          })),
        model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
        id: 'infinity-1',
        created: 1_790_000_000,
      },
    };
  },

  error: (status, message) => ({ status, body: { error: { message, type: null, param: null, code: status } } }),

  pairs: [
    {
      name: 'embeddings pass byte for byte to /embeddings, without a version prefix',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":["x"],"encoding_format":"float","dimensions":1,"modality":"text"}',
      wire: [
        {
          path: '/embeddings',
          body: '{"model":"michaelfeil/bge-small-en-v1.5","input":["x"],"encoding_format":"float","dimensions":1,"modality":"text"}',
          reply: { body: '{"data":[{"index":0,"embedding":[0.50]}],"id":"infinity-1"}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'with base64: convert, floats are requested and converted to base64',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x', encoding_format: 'base64' },
      upstream: { base64: 'convert' },
      wire: [
        {
          path: '/embeddings',
          body: { model, input: 'x', encoding_format: 'float' },
          reply: {
            body: { data: [{ index: 0, embedding: [0.5] }], model, usage: { prompt_tokens: 1, total_tokens: 1 } },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'infinity', 'x-postern-usage': 'estimated' },
        body: embeddingsAnswer(['AAAAPw=='], 1, model),
      },
    },
    {
      name: 'inputs over max_items are split into several calls, without the null encoding_format',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b', 'c'], encoding_format: null, modality: 'text' },
      upstream: { options: { max_items: 2 } },
      wire: [
        {
          path: '/embeddings',
          body: { modality: 'text', model, input: ['a', 'b'] },
          reply: {
            body: {
              data: [
                { index: 0, embedding: [1] },
                { index: 1, embedding: [2] },
              ],
              usage: { prompt_tokens: 2, total_tokens: 2 },
            },
          },
        },
        {
          path: '/embeddings',
          body: { modality: 'text', model, input: ['c'] },
          reply: { body: { data: [{ index: 0, embedding: [3] }], usage: { prompt_tokens: 1, total_tokens: 1 } } },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'infinity', 'x-postern-usage': 'estimated' },
        body: embeddingsAnswer([[1], [2], [3]], 3, model),
      },
    },
    {
      name: 'moderations are classifications of each text, split into calls by max_items',
      route: '/v1/moderations',
      ask: { model: 'm', input: ['a', 'b'] },
      upstream: { options: { max_items: 1, usage_unit: 'tokens' } },
      wire: [
        {
          path: '/classify',
          body: { model, input: ['a'] },
          reply: { body: `{"data":[${toxic}],"model":"tox","usage":{"prompt_tokens":1,"total_tokens":1}}` },
        },
        {
          path: '/classify',
          body: { model, input: ['b'] },
          reply: {
            body: '{"data":[[{"label":"non-toxic","score":1.0}]],"model":"tox","usage":{"prompt_tokens":2,"total_tokens":2}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'infinity' },
        body: moderated(
          'tox',
          [
            verdict(true, { harassment: [true, '0.90'] }, toxic),
            verdict(false, {}, '[{"label":"non-toxic","score":1.0}]'),
          ],
          '{"prompt_tokens":3,"total_tokens":3}',
        ),
      },
    },
    {
      name: 'rerank with top_n: null passes byte for byte',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":["a"],"top_n":null}',
      wire: [
        {
          path: '/rerank',
          body: '{"model":"michaelfeil/bge-small-en-v1.5","query":"q","documents":["a"],"top_n":null}',
          reply: { body: '{"results":[{"relevance_score":0.90,"index":0,"document":null}]}' },
        },
      ],
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['x'] },
      wire: [{ path: '/embeddings', body: { model, input: ['x'] }, reply: { body: { data: [{}] } } }],
    },
    {
      name: 'rerank without return_documents passes byte for byte',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":["a"],"top_n":1}',
      wire: [
        {
          path: '/rerank',
          body: '{"model":"michaelfeil/bge-small-en-v1.5","query":"q","documents":["a"],"top_n":1}',
          reply: { body: '{"results":[{"relevance_score":0.90,"index":0,"document":null}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'rerank over max_items takes several calls, and returns the documents as the client sent them',
      route: '/v1/rerank',
      ask: {
        model: 'm',
        query: 'q',
        documents: ['a', { text: 'b', page: 2 }, 'c'],
        top_n: 2,
        return_documents: true,
        raw_scores: true,
      },
      upstream: { options: { max_items: 2 } },
      wire: [
        {
          path: '/rerank',
          body: { raw_scores: true, model, query: 'q', documents: ['a', 'b'], top_n: 2, return_documents: false },
          reply: {
            body: '{"results":[{"relevance_score":7.50,"index":1,"document":null},{"relevance_score":-1.0,"index":0,"document":null}],"usage":{"prompt_tokens":4,"total_tokens":4}}',
          },
        },
        {
          path: '/rerank',
          body: { raw_scores: true, model, query: 'q', documents: ['c'], top_n: 1, return_documents: false },
          reply: {
            body: '{"results":[{"relevance_score":2e0,"index":0}],"usage":{"prompt_tokens":2,"total_tokens":2}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'infinity', 'x-postern-usage': 'estimated' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"michaelfeil/bge-small-en-v1.5","results":[{"index":1,"relevance_score":7.50,"document":{"text":"b","page":2}},{"index":2,"relevance_score":2e0,"document":{"text":"c"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":6,"total_tokens":6}}',
      },
    },
    {
      name: 'return_documents: null is sent as false',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'], return_documents: null },
      wire: [
        {
          path: '/rerank',
          body: { model, query: 'q', documents: ['a'], return_documents: false },
          reply: { body: { results: [{ relevance_score: 0.5, index: 0, document: null }], model, id: 'infinity-1' } },
        },
      ],
      answer: {
        body: {
          id: 'infinity-1',
          object: 'list',
          model,
          results: [{ index: 0, relevance_score: 0.5 }],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 2, total_tokens: 2 },
        },
      },
    },
    {
      name: 'a validation error (422) names the invalid field',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [] },
      wire: [
        {
          path: '/embeddings',
          body: { model, input: [] },
          reply: {
            status: 422,
            body: { detail: [{ type: 'too_short', loc: ['body', 'input'], msg: 'at least 1 item' }] },
          },
        },
      ],
      answer: {
        status: 422,
        body: {
          error: {
            message: 'input: at least 1 item',
            type: 'invalid_request_error',
            param: 'input',
            code: 'upstream_refused',
            upstream: { detail: [{ type: 'too_short', loc: ['body', 'input'], msg: 'at least 1 item' }] },
          },
        },
      },
    },
    {
      name: "a 401 is returned in OpenAI's error shape",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: '/rerank',
          body: { model, query: 'q', documents: ['a'] },
          headers: { authorization: 'Bearer sk-service-0123456789' },
          reply: { status: 401, body: { detail: 'Unauthorized' } },
        },
      ],
      answer: {
        status: 401,
        body: {
          error: {
            message: 'Unauthorized',
            type: 'authentication_error',
            param: null,
            code: 'upstream_denied',
            upstream: { detail: 'Unauthorized' },
          },
        },
      },
    },
  ],
});
