/** Fixture of Text Embeddings Inference, by `router/src/http/server.rs` of version 1.9. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { moderated, verdict } from './moderation-shapes.ts';
import { base64Of, isViolent, ranked, tokensIn, vectorOf } from './wire.ts';

const mostItems = 32;

const rerankBody = z.object({ query: z.string(), texts: z.array(z.string()) });
const embeddingsBody = z.object({
  input: z.union([z.string(), z.array(z.string())]),
  dimensions: z.number().nullish(),
  // It has no null.
  encoding_format: z.enum(['float', 'base64']).optional(),
});

const pair = z.tuple([z.string(), z.string()]);
/** A text, a pair of texts, or a batch of either. */
const predictBody = z.object({
  inputs: z.union([z.string(), pair, z.array(z.union([z.tuple([z.string()]), pair]))]),
});

function labelsOf(text: string): object[] {
  const score = isViolent(text) ? 0.9375 : 0.03125;
  const labels = [
    { label: 'violence', score },
    { label: 'OK', score: 1 - score },
  ];
  return score > 0.5 ? labels : labels.reverse();
}

const toxic = '[{"label":"severe_toxic","score":0.10},{"label":"toxic","score":0.90},{"label":"obscene","score":6e-1}]';
const numbered = '[{"label":"LABEL_1","score":0.79},{"label":"LABEL_0","score":0.21}]';

function tooMany(count: number): string {
  return `batch size ${count} > maximum allowed batch size ${mostItems}`;
}

export default defineFixture({
  family: 'tei',
  model: 'BAAI/bge-small-en-v1.5',

  service({ path, body }: WireCall): WireReply {
    if (path === '/rerank') {
      const { query, texts } = rerankBody.parse(body);
      if (texts.length > mostItems)
        return { status: 422, body: { error: tooMany(texts.length), error_type: 'Validation' } };
      return {
        headers: { 'x-compute-tokens': String(tokensIn(query, ...texts)) },
        body: ranked(query, texts).map(({ index, score }) => ({ index, score })),
      };
    }
    if (path === '/predict') {
      const { inputs } = predictBody.parse(body);
      if (typeof inputs === 'string') return { body: labelsOf(inputs) };
      if (inputs.length === 0) return { status: 400, body: { error: '`inputs` cannot be empty', error_type: 'Empty' } };
      if (inputs.length > mostItems)
        return { status: 422, body: { error: tooMany(inputs.length), error_type: 'Validation' } };
      const [first] = inputs;
      if (typeof first === 'string') return { body: labelsOf(inputs.join(' ')) };
      return {
        headers: { 'x-compute-tokens': String(tokensIn(...inputs.flat())) },
        body: inputs.map((texts) => labelsOf([texts].flat().join(' '))),
      };
    }
    if (path !== '/v1/embeddings') return { status: 404, body: '' };
    const { input, dimensions, encoding_format: format } = embeddingsBody.parse(body);
    const texts = typeof input === 'string' ? [input] : input;
    if (texts.length > mostItems)
      return { status: 422, body: { message: tooMany(texts.length), code: 422, type: 'Validation' } };
    return {
      body: {
        object: 'list',
        data: texts.map((text, index) => {
          const vector = vectorOf(text, dimensions ?? undefined);
          return { object: 'embedding', embedding: format === 'base64' ? base64Of(vector) : vector, index };
        }),
        model: 'BAAI/bge-small-en-v1.5',
        usage: { prompt_tokens: tokensIn(...texts), total_tokens: tokensIn(...texts) },
      },
    };
  },

  error: (status, message) => ({ status, body: { error: message, error_type: 'Validation' } }),

  pairs: [
    {
      name: '/embed_sparse passes byte for byte, without a model name in the body',
      route: '/tei/m/embed_sparse',
      ask: '{ "inputs":["a","\\u00e9"],"truncate":true, "x":1.0}',
      wire: [
        {
          path: '/embed_sparse',
          body: '{ "inputs":["a","\\u00e9"],"truncate":true, "x":1.0}',
          reply: { headers: { 'x-compute-tokens': '4' }, body: '[[{"index":1,"value":0.50}],[]]\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: '/embed_all passes byte for byte, with the model renamed in the body',
      route: '/embed_all',
      ask: '{"inputs":"a","model":"m"}',
      wire: [
        {
          path: '/embed_all',
          body: '{"inputs":"a","model":"BAAI/bge-small-en-v1.5"}',
          reply: { body: '[[[0.10],[1e-3]]]' },
        },
      ],
    },
    {
      name: 'embeddings pass byte for byte',
      route: '/v1/embeddings',
      ask: '{"model":"m", "input":"x", "truncate":true}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"BAAI/bge-small-en-v1.5", "input":"x", "truncate":true}',
          reply: { body: '{"object":"list","data":[{"object":"embedding","embedding":[0.10],"index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: "rerank documents are sent as texts, and scores keep TEI's digits, limited to top_n",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', { text: 'b' }, 'c'], top_n: 2, return_documents: true },
      wire: [
        {
          path: '/rerank',
          body: { query: 'q', texts: ['a', 'b', 'c'] },
          reply: {
            headers: { 'x-compute-tokens': '12' },
            body: '[{"index":1,"score":0.9870},{"index":2,"score":1e-2},{"index":0,"score":0.001}]',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'tei' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"BAAI/bge-small-en-v1.5","results":[{"index":1,"relevance_score":0.9870,"document":{"text":"b"}},{"index":2,"relevance_score":1e-2,"document":{"text":"c"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":12,"total_tokens":12}}',
      },
    },
    {
      name: 'an empty x-compute-tokens header counts as missing usage, which is estimated',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: '/rerank',
          body: { query: 'q', texts: ['a'] },
          reply: { headers: { 'x-compute-tokens': '' }, body: '[{"index":0,"score":0.5}]' },
        },
      ],
      answer: {
        body: '{"id":"rerank-{exchange}","object":"list","model":"BAAI/bge-small-en-v1.5","results":[{"index":0,"relevance_score":0.5}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":2,"total_tokens":2}}',
      },
    },
    {
      name: 'with base64: convert, floats are requested and converted to base64',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x', encoding_format: 'base64' },
      upstream: { base64: 'convert' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'BAAI/bge-small-en-v1.5', input: 'x', encoding_format: 'float' },
          reply: { body: '{"data":[{"index":0,"embedding":[0.5]}],"usage":{"prompt_tokens":1,"total_tokens":1}}' },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'tei' },
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AAAAPw=="}],"model":"BAAI/bge-small-en-v1.5","usage":{"prompt_tokens":1,"total_tokens":1}}',
      },
    },
    {
      name: 'encoding_format: null is not sent',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":"x","encoding_format":null,"truncate":true}',
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'BAAI/bge-small-en-v1.5', input: 'x', truncate: true },
          reply: { body: '{"data":[{"index":0,"embedding":[0.50]}],"usage":{"prompt_tokens":1,"total_tokens":1}}' },
        },
      ],
      answer: {
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.50]}],"model":"BAAI/bge-small-en-v1.5","usage":{"prompt_tokens":1,"total_tokens":1}}',
      },
    },
    {
      name: 'moderations are sent to /predict with each text in its own list, and labels become categories',
      route: '/v1/moderations',
      ask: { model: 'm', input: ['a', 'b'], truncate: true },
      wire: [
        {
          path: '/predict',
          body: { inputs: [['a'], ['b']], truncate: true },
          reply: { headers: { 'x-compute-tokens': '7' }, body: `[${toxic},[{"label":"non-toxic","score":1.0}]]` },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'tei' },
        body: moderated(
          'BAAI/bge-small-en-v1.5',
          [
            verdict(true, { harassment: [true, '0.90'] }, toxic),
            verdict(false, {}, '[{"label":"non-toxic","score":1.0}]'),
          ],
          '{"prompt_tokens":7,"total_tokens":7}',
        ),
      },
    },
    {
      name: 'the options labels and threshold map classifier labels to categories and decide what is flagged',
      route: '/v1/moderations',
      ask: { model: 'm', input: 'a' },
      upstream: { options: { labels: 'LABEL_0=safe,LABEL_1=harassment', threshold: 0.8 } },
      wire: [{ path: '/predict', body: { inputs: [['a']] }, reply: { body: `[${numbered}]` } }],
      answer: {
        body: moderated('BAAI/bge-small-en-v1.5', [verdict(false, { harassment: [false, '0.79'] }, numbered)]),
      },
    },
    {
      name: 'an unknown classifier label gives 502 instead of a verdict',
      route: '/v1/moderations',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: '/predict',
          body: { inputs: [['a']] },
          reply: { body: `[${numbered}]` },
        },
      ],
      answer: {
        status: 502,
        body: {
          error: {
            message:
              'The upstream\'s answer does not fit the request (label 0 of input 0 is unknown here; the operator learns its name from the classifier itself, and says what it means in the option "labels"); try again, and tell the operator if it stays so.',
            type: 'upstream_error',
            param: null,
            code: 'upstream_protocol_error',
          },
        },
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['x'] },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'BAAI/bge-small-en-v1.5', input: ['x'] },
          reply: { body: { object: 'list', data: [{}] } },
        },
      ],
    },
  ],
});
