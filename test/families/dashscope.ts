/** Fixture of Alibaba's DashScope, by public gateways and its reference. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { completionOf, embeddingsOf, text, textOrTexts, texts } from './openai-shapes.ts';
import { ranked, tokensIn } from './wire.ts';

const model = 'qwen3-rerank';
const rerankPath = '/api/v1/services/rerank/text-rerank/text-rerank';

const completionsBody = z.object({
  model: text,
  prompt: text,
  suffix: text.nullish(),
  n: z.int().min(1).nullish(),
  echo: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
});
const embeddingsBody = z.object({
  model: text,
  input: textOrTexts,
  dimensions: z.int().nullish(),
  encoding_format: z.literal('float').nullish(),
});
const rerankBody = z.strictObject({
  model: text,
  input: z.strictObject({ query: text, documents: texts.min(1).max(500) }),
  parameters: z
    .object({ top_n: z.int().min(1).optional(), return_documents: z.boolean().optional(), instruct: text.optional() })
    .optional(),
});

const refused = (message: string): WireReply => ({
  status: 400,
  body: {
    error: { message, type: 'invalid_request_error', param: null, code: 'invalid_parameter_error' },
    request_id: 'r',
  },
});

export default defineFixture({
  family: 'dashscope',
  chat: '/compatible-mode/v1/chat/completions',
  model,
  // It may stand there, or not.
  basePath: '/compatible-mode/v1',

  service({ path, body }: WireCall): WireReply {
    if (path === '/compatible-mode/v1/completions') {
      const { prompt, ...asked } = completionsBody.parse(body);
      return completionOf([prompt], asked);
    }
    if (path === '/compatible-mode/v1/embeddings') {
      const { success, data } = embeddingsBody.safeParse(body);
      if (!success) return refused('contents is neither str nor list of str.');
      const { input, ...asked } = data;
      const inputs = typeof input === 'string' ? [input] : input;
      if (inputs.length > 10) return refused('batch size is invalid, it should not be larger than 10.');
      return embeddingsOf(inputs, asked);
    }
    if (path !== rerankPath)
      return { status: 404, body: { code: 'InvalidURL', message: 'url error', request_id: 'r' } };
    const { success, data } = rerankBody.safeParse(body);
    if (!success) return { status: 400, body: { code: 'InvalidParameter', message: 'no', request_id: 'r' } };
    const { query, documents } = data.input;
    return {
      body: {
        output: {
          results: ranked(query, documents)
            .slice(0, data.parameters?.top_n)
            .map(({ index, score }) => ({ index, relevance_score: score })),
        },
        usage: { total_tokens: tokensIn(query, ...documents) },
        request_id: 'r',
      },
    };
  },

  error: (status, message) => ({ status, body: { code: 'SomeCode', message, request_id: 'r' } }),

  pairs: [
    {
      name: 'a completion of one prompt passes byte for byte',
      route: '/v1/completions',
      ask: '{"model":"m", "prompt":"a", "suffix":"z"}',
      wire: [
        {
          path: '/compatible-mode/v1/completions',
          body: '{"model":"qwen3-rerank", "prompt":"a", "suffix":"z"}',
          reply: { body: '{"choices":[{"text":"b","index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'embeddings with encoding_format float pass byte for byte',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":["a"],"dimensions":1,"encoding_format":"float"}',
      wire: [
        {
          path: '/compatible-mode/v1/embeddings',
          body: '{"model":"qwen3-rerank","input":["a"],"dimensions":1,"encoding_format":"float"}',
          reply: { body: '{"data":[{"embedding":[0.50],"index":0,"object":"embedding"}],"id":"r"}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'token IDs are sent as text, split by max_items, and base64 is made from the floats',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [[9906], [1917], [1578]], encoding_format: 'base64', dimensions: 1 },
      upstream: { options: { max_items: 2 } },
      wire: [
        {
          path: '/compatible-mode/v1/embeddings',
          body: { model, input: ['Hello', ' world'], dimensions: 1, encoding_format: 'float' },
          reply: {
            body: {
              data: [
                { embedding: [-1], index: 1 },
                { embedding: [0.5], index: 0 },
              ],
              model,
              usage: { prompt_tokens: 2, total_tokens: 2 },
              id: 'r',
            },
          },
        },
        {
          path: '/compatible-mode/v1/embeddings',
          body: { model, input: [' again'], dimensions: 1, encoding_format: 'float' },
          reply: {
            body: { data: [{ embedding: [0.5], index: 0 }], model, usage: { prompt_tokens: 1, total_tokens: 1 } },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'dashscope' },
        body: {
          object: 'list',
          data: [
            { object: 'embedding', index: 0, embedding: 'AAAAPw==' },
            { object: 'embedding', index: 1, embedding: 'AACAvw==' },
            { object: 'embedding', index: 2, embedding: 'AAAAPw==' },
          ],
          id: 'r',
          model,
          usage: { prompt_tokens: 3, total_tokens: 3 },
        },
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['x'] },
      wire: [
        { path: '/compatible-mode/v1/embeddings', body: { model, input: ['x'] }, reply: { body: { data: [{}] } } },
      ],
    },
    {
      name: "rerank is sent in DashScope's shape, and scores keep their digits",
      route: '/v1/rerank',
      ask: {
        model: 'm',
        query: 'q',
        documents: ['a', { text: 'b' }, 'c'],
        top_n: 2,
        return_documents: true,
        instruct: 'find',
      },
      wire: [
        {
          path: rerankPath,
          body: {
            model,
            input: { query: 'q', documents: ['a', 'b', 'c'] },
            parameters: { instruct: 'find', top_n: 2, return_documents: false },
          },
          headers: { authorization: 'Bearer sk-service-0123456789' },
          reply: {
            body: '{"output":{"results":[{"index":1,"relevance_score":0.930},{"index":0,"relevance_score":3e-1}]},"usage":{"total_tokens":79},"request_id":"r","code":""}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'dashscope', 'x-postern-usage': null },
        body: '{"id":"r","object":"list","model":"qwen3-rerank","results":[{"index":1,"relevance_score":0.930,"document":{"text":"b"}},{"index":0,"relevance_score":3e-1,"document":{"text":"a"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":79,"total_tokens":79}}',
      },
    },
    {
      name: 'vision rerank models get document objects unchanged',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: [{ image: 'https://h/a.png' }, 'b'] },
      target: { model: 'qwen3-vl-rerank' },
      wire: [
        {
          path: rerankPath,
          body: {
            model: 'qwen3-vl-rerank',
            input: { query: 'q', documents: [{ image: 'https://h/a.png' }, 'b'] },
            parameters: { return_documents: false },
          },
          reply: {
            body: {
              output: {
                results: [
                  { index: 0, relevance_score: 0.5 },
                  { index: 1, relevance_score: 0.25 },
                ],
              },
            },
          },
        },
      ],
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model: 'qwen3-vl-rerank',
          results: [
            { index: 0, relevance_score: 0.5 },
            { index: 1, relevance_score: 0.25 },
          ],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 4, total_tokens: 4 },
        },
      },
    },
    ...(
      [
        ['InvalidParameter', 400, 'invalid_request_error', 'upstream_refused', 1],
        ['InvalidParameter.DataInspection', 400, 'invalid_request_error', 'upstream_refused', 1],
        ['InvalidApiKey', 401, 'authentication_error', 'upstream_denied', 1],
        ['AccessDenied.Unpurchased', 403, 'permission_error', 'upstream_denied', 1],
        ['Throttling.RateQuota', 429, 'rate_limit_error', 'rate_limit_exceeded', 2],
        ['InternalError.Algo', 500, 'upstream_error', 'upstream_failed', 2],
        ['constructor', 500, 'upstream_error', 'upstream_failed', 2],
      ] as const
    ).map(([code, status, type, ours, calls]) => ({
      name: `an answer with status 200 and the code ${code} is an error`,
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: Array.from({ length: calls }, () => ({
        path: rerankPath,
        body: { model, input: { query: 'q', documents: ['a'] }, parameters: { return_documents: false } },
        reply: { body: { code, message: 'no good', request_id: 'r' } },
      })),
      answer: {
        status,
        headers: { 'x-postern-translated': 'dashscope' },
        body: {
          error: {
            message: 'no good',
            type,
            param: null,
            code: ours,
            upstream: { code, message: 'no good', request_id: 'r' },
          },
        },
      },
    })),
    {
      name: "an error of DashScope's OpenAI-compatible mode passes unchanged",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/compatible-mode/v1/embeddings',
          body: { model, input: 'x' },
          reply: {
            status: 404,
            body: '{"error":{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"},"request_id":"r"}',
          },
        },
      ],
      answer: {
        status: 404,
      },
    },
  ],
});
