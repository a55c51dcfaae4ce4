/** Fixture of SiliconFlow: OpenAI's format with its own limits, and rerank usage in `meta.tokens`. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { completionAsked, completionOf, embeddingsOf, ranksOf, text, textOrTexts, texts } from './openai-shapes.ts';
import { tokensIn } from './wire.ts';

const model = 'Qwen/Qwen3-Embedding-8B';
const mostInputs = 32;
const vectorsOf32 = `{"data": [${Array.from({ length: 32 }, () => '{"embedding":[1]}').join()}]}`;

const completionsBody = completionAsked.extend({
  prompt: text,
  suffix: text.nullish(),
});
const embeddingsBody = z.object({
  model: text,
  input: textOrTexts,
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
});
const rerankBody = z.object({
  model: text,
  query: text,
  documents: texts,
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
  max_chunks_per_doc: z.int().optional(),
  overlap_tokens: z.int().max(80).optional(),
});

const flat = (code: number, message: string) => ({ code, message, data: null });

export default defineFixture({
  family: 'siliconflow',
  chat: '/v1/chat/completions',
  model,

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/completions') {
      const asked = completionsBody.parse(body);
      return completionOf([asked.prompt], asked);
    }
    if (path === '/v1/embeddings') {
      const asked = embeddingsBody.parse(body);
      const inputs = typeof asked.input === 'string' ? [asked.input] : asked.input;
      if (inputs.length > mostInputs) return { status: 400, body: flat(20042, 'the batch size is over 32') };
      if (asked.dimensions != null && !asked.model.startsWith('Qwen/Qwen3')) {
        return { status: 400, body: flat(20015, 'the model has no dimensions') };
      }
      return embeddingsOf(inputs, asked);
    }
    if (path === '/v1/rerank') {
      const asked = rerankBody.parse(body);
      const meta = { tokens: { input_tokens: tokensIn(asked.query, ...asked.documents), output_tokens: 0 } };
      return { body: { id: 'r-1', results: ranksOf(asked.documents, asked), meta } };
    }
    return { status: 404, body: '404 page not found' };
  },

  error: (status, message) => ({ status, body: flat(20012, message) }),

  pairs: [
    {
      name: 'a completion of one prompt with a suffix passes byte for byte',
      route: '/v1/completions',
      ask: '{"model":"m","prompt":"a","suffix":"c","temperature":1.0}',
      wire: [
        {
          path: '/v1/completions',
          body: `{"model":"${model}","prompt":"a","suffix":"c","temperature":1.0}`,
          reply: { body: '{"choices":[{"index":0,"text":"b"}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: '32 embedding inputs pass byte for byte',
      route: '/v1/embeddings',
      ask: `{"model":"m","input":[${'"a", '.repeat(31)}"b,\\",c"],"encoding_format":"float"}`,
      wire: [
        {
          path: '/v1/embeddings',
          body: `{"model":"${model}","input":[${'"a", '.repeat(31)}"b,\\",c"],"encoding_format":"float"}`,
          reply: { body: vectorsOf32 },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: '33 embedding inputs take two calls, and usage is summed',
      route: '/v1/embeddings',
      ask: { model: 'm', input: Array.from({ length: 33 }, (_, index) => `t${index}`), dimensions: 1 },
      wire: [0, 32].map((start) => {
        const inputs = Array.from({ length: start === 0 ? 32 : 1 }, (_, index) => `t${start + index}`);
        return {
          path: '/v1/embeddings',
          body: { model, input: inputs, dimensions: 1 },
          reply: {
            body: {
              object: 'list',
              model,
              data: inputs.map((_, index) => ({ object: 'embedding', index, embedding: [start + index] })),
              usage: { prompt_tokens: inputs.length, completion_tokens: 0, total_tokens: inputs.length },
            },
          },
        };
      }),
      answer: {
        headers: { 'x-postern-translated': null, 'x-postern-calls': '2' },
        body: {
          object: 'list',
          data: Array.from({ length: 33 }, (_, index) => ({ object: 'embedding', index, embedding: [index] })),
          model,
          usage: { prompt_tokens: 33, completion_tokens: 0, total_tokens: 33 },
        },
      },
    },
    {
      name: "dimensions are sent to every model, and a model's refusal is returned",
      route: '/v1/embeddings',
      target: { model: 'BAAI/bge-m3' },
      ask: { model: 'm', input: 'x', dimensions: 4 },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'BAAI/bge-m3', input: 'x', dimensions: 4 },
          reply: { status: 400, body: flat(20015, 'the model has no dimensions') },
        },
      ],
      answer: {
        status: 400,
        headers: { 'x-postern-translated': 'siliconflow' },
        body: {
          error: {
            message: 'the model has no dimensions',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: flat(20015, 'the model has no dimensions'),
          },
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
      name: "rerank of texts passes byte for byte, with the client's chunk settings",
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":["a"],"max_chunks_per_doc":2,"overlap_tokens":1e1,"return_documents":true}',
      wire: [
        {
          path: '/v1/rerank',
          body: `{"model":"${model}","query":"q","documents":["a"],"max_chunks_per_doc":2,"overlap_tokens":1e1,"return_documents":true}`,
          reply: { body: '{"results":[{"index":0,"relevance_score":0.50,"document":{"text":"a"}}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'null fields of a rerank request are not sent',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'], max_chunks_per_doc: null },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a'], return_documents: false },
          reply: { body: '{"id":"r","results":[{"index":0,"relevance_score":0.50}]}' },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'siliconflow' },
        body: `{"id":"r","object":"list","model":"${model}","results":[{"index":0,"relevance_score":0.50}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":2,"total_tokens":2}}`,
      },
    },
    {
      name: "document objects are sent as text, and SiliconFlow's token count is read",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: [{ text: 'a' }], overlap_tokens: 10 },
      wire: [
        {
          path: '/v1/rerank',
          body: { model, query: 'q', documents: ['a'], overlap_tokens: 10, return_documents: false },
          reply: {
            body: '{"id":"r","results":[{"index":0,"relevance_score":0.50}],"meta":{"api_version":{"version":"2"},"billed_units":{},"tokens":{"input_tokens":12,"output_tokens":0}}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'siliconflow' },
        body: `{"id":"r","object":"list","model":"${model}","results":[{"index":0,"relevance_score":0.50}],"meta":{"api_version":{"version":"2"},"billed_units":{},"tokens":{"input_tokens":12,"output_tokens":0}},"usage":{"prompt_tokens":12,"total_tokens":12}}`,
      },
    },
    {
      name: "an error that is a plain JSON string is returned in OpenAI's shape",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: 'x' },
          reply: { status: 401, body: '"Invalid token"' },
        },
      ],
      answer: {
        status: 401,
        body: {
          error: {
            message: 'Invalid token',
            type: 'authentication_error',
            param: null,
            code: 'upstream_denied',
            upstream: 'Invalid token',
          },
        },
      },
    },
  ],
});
