/** Fixture of Ollama, by `server/routes.go`, `openai/openai.go` and `middleware/openai.go` of August 2026. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { completionOf, embeddingsOf, text, textOrTexts } from './openai-shapes.ts';
import { replyTo, tokensIn } from './wire.ts';

const model = 'nomic-embed-text:v1.5';

/** What it knows and does nothing about, such as `n` and `echo`, it takes as well. */
const completionsBody = z.object({
  model: text,
  prompt: text,
  suffix: text.nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
});
const embeddingsBody = z.object({
  model: text,
  input: textOrTexts,
  dimensions: z.int().nullish(),
  encoding_format: z
    .string()
    .regex(/^(?:float|base64)$/i)
    .nullish(),
});

const generateBody = z.object({ model: text, prompt: text, stream: z.boolean().nullish() });

/** Its own completions: whole, or as lines. */
function generatedOf({ model: name, prompt, stream }: z.output<typeof generateBody>): WireReply {
  const said = replyTo(prompt);
  const head = { model: name, created_at: '2026-09-01T00:00:00Z' };
  const end = { done: true, done_reason: 'stop', prompt_eval_count: tokensIn(prompt), eval_count: tokensIn(said) };
  if (stream === false) return { body: { ...head, response: said, ...end } };
  const lines = [
    ...[...said].map((one) => ({ ...head, response: one, done: false })),
    { ...head, response: '', ...end },
  ];
  const type = 'application/x-ndjson';
  return { headers: { 'content-type': type }, body: lines.map((line) => `${JSON.stringify(line)}\n`).join('') };
}

function refused(message: string): WireReply {
  return { status: 400, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } };
}

export default defineFixture({
  family: 'ollama',
  chat: '/v1/chat/completions',
  model,
  // It may stand there, or not.
  basePath: '/v1',

  service({ path, body }: WireCall): WireReply {
    if (path === '/v1/completions') {
      const { success, data } = completionsBody.safeParse(body);
      if (!success) return refused('json: cannot unmarshal array into Go struct field CompletionRequest.prompt');
      return completionOf([data.prompt], data);
    }
    if (path === '/api/generate') return generatedOf(generateBody.parse(body));
    if (path !== '/v1/embeddings') return { status: 404, body: '404 page not found' };
    const { success, data } = embeddingsBody.safeParse(body);
    if (!success || data.input.length === 0) return refused('invalid input type');
    const { input, encoding_format: format, ...asked } = data;
    const texts = typeof input === 'string' ? [input] : input;
    return embeddingsOf(texts, { ...asked, encoding_format: format?.toLowerCase() === 'base64' ? 'base64' : 'float' });
  },

  error: (status, message) => ({
    status,
    body: { error: { message, type: 'api_error', param: null, code: null } },
  }),

  pairs: [
    {
      name: 'a completion of one prompt passes byte for byte',
      route: '/v1/completions',
      ask: '{"model":"m", "prompt":"a", "suffix":"z", "options":{"num_ctx":4096}}',
      wire: [
        {
          path: '/v1/completions',
          body: '{"model":"nomic-embed-text:v1.5", "prompt":"a", "suffix":"z", "options":{"num_ctx":4096}}',
          reply: { body: '{"id":"cmpl-123","choices":[{"text":"b","index":0}],"system_fingerprint":"fp_ollama"}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a requested base64 answer passes byte for byte, with encoding_format in any letter case',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":["x"],"encoding_format":"BASE64","dimensions":1}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"nomic-embed-text:v1.5","input":["x"],"dimensions":1,"encoding_format":"base64"}',
          reply: { body: '{"object":"list", "data":[{"object":"embedding","embedding":"AAAAPw==","index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'floats from an old Ollama version become base64 if base64 was requested',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['x', 'y'], encoding_format: 'base64' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'nomic-embed-text:v1.5', input: ['x', 'y'], encoding_format: 'base64' },
          reply: {
            body: '{"object":"list","data":[{"object":"embedding","embedding":[0.5,-1.0],"index":0},{"object":"embedding","embedding":[0,1e0],"index":1}],"model":"nomic","usage":{"prompt_tokens":2,"total_tokens":2}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'ollama', 'x-postern-usage': null },
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AAAAPwAAgL8="},{"object":"embedding","index":1,"embedding":"AAAAAAAAgD8="}],"model":"nomic","usage":{"prompt_tokens":2,"total_tokens":2}}',
      },
    },
    {
      name: 'embeddings pass byte for byte',
      route: '/v1/embeddings',
      ask: '{"model":"m", "input":["x"],"encoding_format":"Float","dimensions":1}',
      wire: [
        {
          path: '/v1/embeddings',
          body: '{"model":"nomic-embed-text:v1.5", "input":["x"],"encoding_format":"Float","dimensions":1}',
          reply: { body: '{"object":"list","data":[{"object":"embedding","embedding":[0.50],"index":0}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'with api: native, base64 is made by the gateway, with encoding_format in any letter case',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x', encoding_format: 'BASE64' },
      upstream: { options: { api: 'native' } },
      wire: [
        {
          path: '/api/embed',
          body: { model: 'nomic-embed-text:v1.5', input: ['x'] },
          reply: { body: { model: 'nomic', embeddings: [[0.5]], prompt_eval_count: 1 } },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'ollama', 'x-postern-ignored': null },
        body: embeddingsAnswer(['AAAAPw=='], 1, 'nomic'),
      },
    },
    {
      name: 'token IDs are sent as the text they encode',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [9906, 1917], encoding_format: 'base64' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: 'Hello world', encoding_format: 'base64' },
          reply: {
            body: {
              object: 'list',
              data: [{ object: 'embedding', embedding: 'AAAAPw==', index: 0 }],
              model,
              usage: { prompt_tokens: 2, total_tokens: 2 },
            },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'ollama' },
        body: embeddingsAnswer(['AAAAPw=='], 2, model),
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['x'] },
      wire: [{ path: '/v1/embeddings', body: { model, input: ['x'] }, reply: { body: { data: [{}] } } }],
    },
    {
      name: "with api: native, Ollama's own parameters are sent, and a single text as a list",
      route: '/v1/embeddings',
      ask: { model: 'm', input: '', dimensions: 2, user: 'u', truncate: false, keep_alive: '10m', options: { a: 1 } },
      upstream: { options: { api: 'native' } },
      wire: [
        {
          path: '/api/embed',
          body: { truncate: false, keep_alive: '10m', options: { a: 1 }, model, input: [''], dimensions: 2 },
          reply: {
            body: '{"model":"nomic-embed-text:v1.5","embeddings":[[0.60,-8e-1]],"total_duration":14143917,"load_duration":1019500,"prompt_eval_count":1}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'ollama', 'x-postern-ignored': 'user', 'x-postern-usage': null },
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.60,-8e-1]}],"model":"nomic-embed-text:v1.5","usage":{"prompt_tokens":1,"total_tokens":1}}',
      },
    },
    {
      name: 'with api: native, the legacy engines path works with base64, and missing usage is estimated',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['abcdefgh', 'b'], encoding_format: 'base64' },
      upstream: { options: { api: 'native' } },
      wire: [
        {
          path: '/api/embed',
          body: { model, input: ['abcdefgh', 'b'] },
          reply: { body: { model, embeddings: [[0.5], [-1]] } },
        },
      ],
      answer: {
        headers: { 'x-postern-usage': 'estimated' },
        body: embeddingsAnswer(['AAAAPw==', 'AACAvw=='], 3, model),
      },
    },
    {
      name: "with api: native, an error that is a plain text is returned in OpenAI's shape",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x' },
      upstream: { options: { api: 'native' } },
      wire: [
        {
          path: '/api/embed',
          body: { model, input: ['x'] },
          reply: { status: 404, body: { error: 'model "nomic-embed-text:v1.5" not found, try pulling it first' } },
        },
      ],
      answer: {
        status: 404,
        body: {
          error: {
            message: 'model "nomic-embed-text:v1.5" not found, try pulling it first',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { error: 'model "nomic-embed-text:v1.5" not found, try pulling it first' },
          },
        },
      },
    },
    {
      name: 'with api: native, fewer vectors than inputs give 502',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'] },
      upstream: { options: { api: 'native' } },
      wire: [{ path: '/api/embed', body: { model, input: ['a', 'b'] }, reply: { body: { model, embeddings: [[1]] } } }],
      answer: {
        status: 502,
        body: {
          error: {
            message:
              "The upstream's answer does not fit the request (1 vectors for 2 inputs); try again, and tell the operator if it stays so.",
            type: 'upstream_error',
            param: null,
            code: 'upstream_protocol_error',
          },
        },
      },
    },
  ],
});
