/** Fixture of vLLM, by `vllm/entrypoints/openai` and `vllm/entrypoints/pooling` of 2026. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { anyInput, completionOf, embeddingsOf, text, toTexts } from './openai-shapes.ts';
import { ranked, tokensIn } from './wire.ts';

const model = 'BAAI/bge-m3';

const completionsBody = z.object({
  model: text,
  prompt: anyInput,
  n: z.int().min(1).nullish(),
  echo: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  suffix: z.null().optional(),
});
const embeddingsBody = z.object({
  model: text,
  input: anyInput,
  dimensions: z.int().nullish(),
  // It has no null.
  encoding_format: z.enum(['float', 'base64', 'bytes']).optional(),
  user: text.nullish(),
});
const readable = z.union([text, z.object({ content: z.array(z.object({ type: z.literal('text'), text })) })]);
const rerankBody = z.object({
  model: text,
  query: readable,
  documents: z.array(readable),
  // Nor has this; 0 is all.
  top_n: z.int().optional(),
});

const plain = (value: z.output<typeof readable>): string =>
  typeof value === 'string' ? value : value.content.map((part) => part.text).join('');

export default defineFixture({
  family: 'vllm',
  chat: '/v1/chat/completions',
  model,
  // It may stand there, or not.
  basePath: '/v1',
  takesTokenIds: 'completions',

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/completions') {
      const { prompt, ...asked } = completionsBody.parse(body);
      return completionOf(toTexts(prompt), asked);
    }
    if (path === '/v1/embeddings') {
      const { input, encoding_format: format, ...asked } = embeddingsBody.parse(body);
      return embeddingsOf(toTexts(input), { ...asked, encoding_format: format === 'base64' ? 'base64' : 'float' });
    }
    if (path !== '/v1/rerank') return { status: 404, body: { detail: 'Not Found' } };
    const { query, documents, top_n: top } = rerankBody.parse(body);
    const tokens = tokensIn(plain(query), ...documents.map(plain));
    return {
      body: {
        id: 'rerank-1',
        model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
        results: ranked(plain(query), documents.map(plain))
          .slice(0, top || undefined)
          .map(({ index, score, text: document }) => ({
            index,
            document: { text: document, multi_modal: null },
            relevance_score: score,
          })),
      },
    };
  },

  error: (status, message) => ({
    status,
    body: { error: { message, type: 'BadRequestError', param: null, code: status } },
  }),

  pairs: [
    {
      name: '/pooling passes byte for byte with the model renamed',
      route: '/pooling',
      ask: '{ "model":"m","input":["a"],"task":"token_embed", "x":1.0}',
      wire: [
        {
          path: '/pooling',
          body: `{ "model":"${model}","input":["a"],"task":"token_embed", "x":1.0}`,
          reply: {
            body: '{"data":[{"index":0,"object":"pooling","data":[[0.50]]}],"usage":{"prompt_tokens":3,"total_tokens":3}}',
          },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: '/classify passes byte for byte with the model renamed',
      route: '/classify',
      ask: '{"model":"m","input":["a"]}',
      wire: [
        {
          path: '/classify',
          body: `{"model":"${model}","input":["a"]}`,
          reply: {
            body: '{"data":[{"index":0,"label":"x","probs":[0.50],"num_classes":1}],"usage":{"prompt_tokens":3,"total_tokens":3}}',
          },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: '/v1/score passes byte for byte with the model renamed',
      route: '/v1/score',
      ask: '{"model":"m","text_1":["q","r"],"text_2":["a","b"],"truncate_prompt_tokens":9}',
      wire: [
        {
          path: '/score',
          body: `{"model":"${model}","text_1":["q","r"],"text_2":["a","b"],"truncate_prompt_tokens":9}`,
          reply: {
            body: '{"data":[{"index":0,"object":"score","score":0.50}],"usage":{"prompt_tokens":3,"total_tokens":3}}',
          },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a completion passes byte for byte, also with token IDs',
      route: '/v1/completions',
      ask: '{"model":"m", "prompt":[[1,2],[3]], "min_p":0.050}',
      wire: [
        {
          path: '/v1/completions',
          body: '{"model":"BAAI/bge-m3", "prompt":[[1,2],[3]], "min_p":0.050}',
          reply: { body: '{"object":"text_completion","choices":[{"index":0,"text":"a","stop_reason":null}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'embeddings pass byte for byte',
      route: '/v1/embeddings',
      ask: '{"model":"m", "input":["x"],"encoding_format":"float","dimensions":1e0,"truncate_prompt_tokens":-1}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"BAAI/bge-m3", "input":["x"],"encoding_format":"float","dimensions":1e0,"truncate_prompt_tokens":-1}',
          reply: { body: '{"id":"embd-1","data":[{"index":0,"embedding":[0.50]}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a requested base64 answer passes byte for byte after a check of its vectors',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":["x"],"encoding_format":"base64","dimensions":1e0,"truncate_prompt_tokens":-1}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"truncate_prompt_tokens":-1,"model":"BAAI/bge-m3","input":["x"],"dimensions":1e0,"encoding_format":"base64"}',
          reply: { body: '{"id":"embd-1", "created":7,"data":[{"index":0,"embedding":"AAAAPw=="}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a base64 vector that contains NaN gives 502',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['x'], encoding_format: 'base64' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['x'], encoding_format: 'base64' },
          reply: { body: { data: [{ index: 0, embedding: 'AADAfw==' }] } },
        },
      ],
      answer: {
        status: 502,
        body: {
          error: {
            message:
              "The upstream's answer does not fit the request (the vector of input 0 holds something that is no number); try again, and tell the operator if it stays so.",
            type: 'upstream_error',
            param: null,
            code: 'upstream_protocol_error',
          },
        },
      },
    },
    {
      name: 'base64 with embed_dtype float16 passes byte for byte, unchecked',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['x'], encoding_format: 'base64', embed_dtype: 'float16' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: ['x'], encoding_format: 'base64', embed_dtype: 'float16' },
          reply: { body: { data: [{ index: 0, embedding: 'ADg=' }] } },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: "top_n: 0 returns all results, also in another service's shape",
      route: '/v1/rerank',
      headers: { 'x-postern-shape': 'TEI' },
      ask: { model: 'm', query: 'q', documents: ['a', 'b'], top_n: 0 },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a', 'b'] },
          reply: {
            body: '{"results":[{"index":1,"relevance_score":0.50},{"index":0,"relevance_score":1e-3}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'vllm' },
        body: '[{"index":1,"score":0.50},{"index":0,"score":1e-3}]',
      },
    },
    {
      name: 'token IDs are sent as the text they encode, and vectors keep their digits',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [[9906, 1917], [1578]], truncate_prompt_tokens: -1 },
      wire: [
        {
          path: '/v1/embeddings',
          body: { truncate_prompt_tokens: -1, model, input: ['Hello world', ' again'] },
          reply: {
            body: '{"id":"embd-1","object":"list","created":1,"model":"BAAI/bge-m3","data":[{"index":1,"object":"embedding","embedding":[2.0]},{"index":0,"object":"embedding","embedding":[1e0]}],"usage":{"prompt_tokens":5,"total_tokens":5}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'vllm', 'x-postern-usage': null },
        body: '{"id":"embd-1","created":1,"object":"list","data":[{"object":"embedding","index":0,"embedding":[1e0]},{"object":"embedding","index":1,"embedding":[2.0]}],"model":"BAAI/bge-m3","usage":{"prompt_tokens":5,"total_tokens":5}}',
      },
    },
    {
      name: 'with token_ids: pass, token IDs are sent unchanged',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":[[101,7592,102]]}',
      target: { token_ids: 'pass' },
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"BAAI/bge-m3","input":[[101,7592,102]]}',
          reply: { body: '{"data":[{}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['x'] },
      wire: [{ path: '/v1/embeddings', body: { model, input: ['x'] }, reply: { body: { data: [{}] } } }],
    },
    {
      name: 'a rerank answer passes byte for byte, also with documents that were not requested',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":["a"],"top_n":0}',
      wire: [
        {
          path: '/v1/rerank',
          body: '{"model":"BAAI/bge-m3","query":"q","documents":["a"],"top_n":0}',
          reply: {
            body: '{"id":"rerank-1","usage":{"total_tokens":5},"results":[{"index":0,"document":{"text":"a","multi_modal":null},"relevance_score":0.9980}]}',
          },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'rerank objects are sent as texts, null is not sent, and return_documents: false removes documents',
      route: '/v1/rerank',
      ask: { model: 'm', query: { text: 'q' }, documents: [{ text: 'a' }, 'b'], top_n: null, return_documents: false },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a', 'b'] },
          reply: {
            body: '{"id":"rerank-1","model":"BAAI/bge-m3","usage":{"total_tokens":5},"results":[{"index":1,"document":{"text":"b"},"relevance_score":0.50},{"index":0,"document":{"text":"a"},"relevance_score":1e-3}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'vllm' },
        body: '{"id":"rerank-1","object":"list","model":"BAAI/bge-m3","results":[{"index":1,"relevance_score":0.50},{"index":0,"relevance_score":1e-3}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":5,"total_tokens":5}}',
      },
    },
    {
      name: 'rerank documents with content parts are sent and returned unchanged',
      route: '/v1/rerank',
      ask: {
        model: 'm',
        query: 'q',
        documents: [{ content: [{ type: 'text', text: 'a' }] }, 'b'],
        return_documents: true,
      },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: [{ content: [{ type: 'text', text: 'a' }] }, 'b'] },
          reply: {
            body: '{"results":[{"index":0,"document":{"text":null,"multi_modal":[{"type":"text","text":"a"}]},"relevance_score":0.7},{"index":1,"document":{"text":"b"},"relevance_score":0.2}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'vllm' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"BAAI/bge-m3","results":[{"index":0,"relevance_score":0.7,"document":{"content":[{"type":"text","text":"a"}]}},{"index":1,"relevance_score":0.2,"document":{"text":"b"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":4,"total_tokens":4}}',
      },
    },
    {
      name: "an error keeps vLLM's message and param, and gets OpenAI's type and code",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x', dimensions: 4 },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: 'x', dimensions: 4 },
          reply: {
            status: 400,
            body: { error: { message: 'no matryoshka', type: 'BadRequestError', param: 'dimensions', code: 400 } },
          },
        },
      ],
      answer: {
        status: 400,
        headers: { 'x-postern-translated': 'vllm' },
        body: {
          error: {
            message: 'no matryoshka',
            type: 'invalid_request_error',
            param: 'dimensions',
            code: 'upstream_refused',
            upstream: {
              error: { message: 'no matryoshka', type: 'BadRequestError', param: 'dimensions', code: 400 },
            },
          },
        },
      },
    },
    {
      name: "a flat error of an older vLLM version is returned in OpenAI's shape",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a'] },
          reply: {
            status: 404,
            body: { object: 'error', message: 'no such model', type: 'NotFoundError', param: null, code: 404 },
          },
        },
      ],
      answer: {
        status: 404,
        body: {
          error: {
            message: 'no such model',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { object: 'error', message: 'no such model', type: 'NotFoundError', param: null, code: 404 },
          },
        },
      },
    },
  ],
});
