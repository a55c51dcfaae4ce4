/** Fixture of Mistral, by its `openapi.yaml` of 2026 and its pages on errors and embeddings. */

import * as z from 'zod';
import { chatOf, messages } from './chat-shapes.ts';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { moderated, verdict } from './moderation-shapes.ts';
import { embeddingsOf, text, textOrTexts, texts } from './openai-shapes.ts';
import { isViolent, tokensIn } from './wire.ts';

/** As JSON, a token is a byte at the least. */
const mostTokens = 16_000;

const embeddingsBody = z.strictObject({
  model: text,
  input: textOrTexts,
  output_dimension: z.int().positive().nullish(),
  output_dtype: z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary']).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

const fillBody = z.strictObject({
  model: text,
  prompt: text,
  suffix: text.nullish(),
  temperature: z.number().min(0).max(1.5).nullish(),
  top_p: z.number().optional(),
  max_tokens: z.int().min(0).nullish(),
  min_tokens: z.int().min(0).nullish(),
  stop: z.union([text, texts]).optional(),
  stream: z.boolean().optional(),
  random_seed: z.int().min(0).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

const chatBody = z.strictObject({
  model: text,
  messages,
  temperature: z.number().nullish(),
  top_p: z.number().optional(),
  max_tokens: z.int().nullish(),
  stop: z.union([text, texts]).optional(),
  stream: z.boolean().optional(),
  random_seed: z.int().nullish(),
  n: z.int().nullish(),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
});

const moderationsBody = z.strictObject({
  model: text,
  input: textOrTexts,
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

function validation({ issues }: z.ZodError): WireReply {
  const detail = issues.map(({ path, message, code }) => ({ loc: ['body', ...path], msg: message, type: code }));
  return { status: 422, body: { detail } };
}

function read<T>(schema: z.ZodType<T>, body: unknown, reply: (asked: T) => WireReply): WireReply {
  const asked = schema.safeParse(body);
  return asked.success ? reply(asked.data) : validation(asked.error);
}

function fill(asked: z.output<typeof fillBody>): WireReply {
  const { prompt, suffix } = asked;
  return chatOf(prompt + (suffix ?? ''), asked, { countsAtEnd: true });
}

function judge({ model, input }: z.output<typeof moderationsBody>): WireReply {
  const inputs = typeof input === 'string' ? [input] : input;
  const results = inputs.map((one) => ({
    categories: { sexual: false, violence_and_threats: isViolent(one), pii: false },
    category_scores: { sexual: 0.001, violence_and_threats: isViolent(one) ? 0.9 : 0.01, pii: 0.002 },
  }));
  const usage = { prompt_tokens: tokensIn(...inputs), total_tokens: tokensIn(...inputs), completion_tokens: 0 };
  return { body: { id: 'm1', model, usage, results } };
}

const judged = {
  usage: '{"prompt_tokens":12,"total_tokens":20,"completion_tokens":0,"request_count":1}',
  dangerous:
    '{"categories":{"dangerous":false,"criminal":true,"violence_and_threats":true,"selfharm":false},"category_scores":{"dangerous":0.20,"criminal":7.0e-1,"violence_and_threats":0.93,"selfharm":0.10}}',
  private: '{"categories":{"sexual":false,"pii":true},"category_scores":{"sexual":0.0001,"pii":0.98}}',
};

export default defineFixture({
  family: 'mistral',
  chat: '/v1/chat/completions',
  model: 'mistral-one',

  service({ path, body, text: sent }: WireCall): WireReply {
    switch (path) {
      case '/v1/embeddings':
        return read(embeddingsBody, body, ({ model, input, encoding_format, output_dimension }) => {
          const inputs = typeof input === 'string' ? [input] : input;
          if (tokensIn(...inputs) > 4 * mostTokens) return flat(400, 'Too many tokens in batch.', '3210');
          return embeddingsOf(inputs, { model, encoding_format, dimensions: output_dimension });
        });
      case '/v1/fim/completions':
        return read(fillBody, body, fill);
      case '/v1/chat/completions':
        return read(chatBody, body, ({ n, ...asked }) =>
          chatOf(asked.messages.at(-1)?.content ?? '', { ...asked, n: n ?? 1 }, { countsAtEnd: true }),
        );
      case '/v1/moderations':
        return read(moderationsBody, body, judge);
      default:
        return flat(404, `no Route matched with those values: ${sent.length}`, null);
    }
  },

  error: (status, message) => flat(status, message, '1300'),

  pairs: [
    {
      name: 'a completion goes to fill-in-the-middle, and its chat-shaped answer becomes a completion',
      route: '/v1/completions',
      ask: '{"model":"m","prompt":"def f(","suffix":"return a","seed":7,"max_tokens":64,"stop":["\\n\\n"],"user":"u","n":1}',
      wire: [
        {
          path: '/v1/fim/completions',
          body: '{"model":"mistral-one","prompt":"def f(","suffix":"return a","random_seed":7,"max_tokens":64,"stop":["\\n\\n"]}',
          reply: {
            body: '{"id":"447e3e0d457e42e98248b5d2ef52a2a3","object":"chat.completion","model":"codestral-2508","usage":{"prompt_tokens":8,"completion_tokens":91,"total_tokens":99},"created":1759496862,"choices":[{"index":0,"message":{"content":"a, b):\\n  ","tool_calls":null,"prefix":false,"role":"assistant"},"finish_reason":"stop"}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'mistral', 'x-postern-ignored': 'user' },
        body: '{"id":"cmpl-447e3e0d457e42e98248b5d2ef52a2a3","object":"text_completion","created":1759496862,"model":"codestral-2508","choices":[{"text":"a, b):\\n  ","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":8,"completion_tokens":91,"total_tokens":99}}',
      },
    },
    {
      name: 'a stream of chat deltas becomes a completion stream, with usage last if requested',
      route: '/v1/completions',
      ask: { model: 'm', prompt: 'a', stream: true, stream_options: { include_usage: true } },
      wire: [
        {
          path: '/v1/fim/completions',
          body: { model: 'mistral-one', prompt: 'a', stream: true },
          headers: { accept: 'text/event-stream' },
          reply: {
            events: [
              '{"id":"x","object":"chat.completion.chunk","created":5,"model":"codestral","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}',
              '{"id":"x","object":"chat.completion.chunk","created":5,"model":"codestral","choices":[{"index":0,"delta":{"content":" b"},"finish_reason":"model_length"}],"usage":{"prompt_tokens":4,"total_tokens":5,"completion_tokens":1}}',
              '[DONE]',
            ],
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'mistral', 'content-type': 'text/event-stream' },
        body: [
          '{"id":"cmpl-x","object":"text_completion","created":5,"model":"codestral","choices":[{"text":"","index":0,"logprobs":null,"finish_reason":null}],"usage":null}',
          '{"id":"cmpl-x","object":"text_completion","created":5,"model":"codestral","choices":[{"text":" b","index":0,"logprobs":null,"finish_reason":"length"}],"usage":null}',
          '{"id":"cmpl-x","object":"text_completion","created":5,"model":"codestral","choices":[],"usage":{"prompt_tokens":4,"total_tokens":5,"completion_tokens":1}}',
          '[DONE]',
        ]
          .map((event) => `data: ${event}\n\n`)
          .join(''),
      },
    },
    {
      name: "a parameter that Mistral's completions lack is refused by name",
      route: '/v1/completions',
      ask: { model: 'm', prompt: 'a', n: 2 },
      wire: [],
      answer: {
        status: 400,
        body: {
          error: {
            message:
              'The field "n" cannot be served: the upstream "up" has no such parameter; leave it out, or ask the operator for a target that can.',
            type: 'invalid_request_error',
            param: 'n',
            code: 'unsupported_parameter',
          },
        },
      },
    },
    {
      name: "with unsupported: drop, parameters that Mistral's completions lack are dropped and listed",
      route: '/v1/completions',
      target: { unsupported: 'drop' },
      ask: { model: 'm', prompt: 'a', n: 2, best_of: 3, logprobs: 1, presence_penalty: 1, strange: {}, echo: true },
      wire: [
        {
          path: '/v1/fim/completions',
          body: { model: 'mistral-one', prompt: 'a' },
          reply: { body: { id: 'x', created: 5, model: 'c', choices: [{ index: 0, message: { content: 'b' } }] } },
        },
      ],
      answer: {
        headers: { 'x-postern-ignored': 'n, best_of, logprobs, presence_penalty, strange' },
        body: {
          id: 'cmpl-x',
          object: 'text_completion',
          created: 5,
          model: 'c',
          choices: [{ text: 'ab', index: 0, logprobs: null, finish_reason: null }],
        },
      },
    },
    {
      name: 'dimensions are sent as output_dimension, and vectors keep their digits',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['x'], dimensions: 2, user: 'u', encoding_format: 'float' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'mistral-one', input: ['x'], output_dimension: 2 },
          reply: {
            body: '{"id":"e1","object":"list","model":"codestral-embed","data":[{"object":"embedding","embedding":[0.010,-1e-3],"index":0}],"usage":{"prompt_tokens":15,"completion_tokens":0,"total_tokens":15,"num_cached_tokens":null}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'mistral', 'x-postern-ignored': 'user' },
        body: '{"id":"e1","object":"list","data":[{"object":"embedding","index":0,"embedding":[0.010,-1e-3]}],"model":"codestral-embed","usage":{"prompt_tokens":15,"total_tokens":15}}',
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: { input: 'x' },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'mistral-one', input: 'x' },
          reply: { body: '{"data":[{"embedding":[1.0],"index":0}],"usage":{"prompt_tokens":1,"total_tokens":1}}' },
        },
      ],
      answer: {
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0]}],"model":"mistral-one","usage":{"prompt_tokens":1,"total_tokens":1}}',
      },
    },
    {
      name: 'inputs over the token limit of one call are split into several calls',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a'.repeat(30_000), 'b'.repeat(30_000)] },
      wire: ['a', 'b'].map((letter, index) => ({
        path: '/v1/embeddings',
        body: { model: 'mistral-one', input: [letter.repeat(30_000)] },
        reply: {
          body: `{"data":[{"embedding":[${index}],"index":0}],"usage":{"prompt_tokens":9,"total_tokens":9}}`,
        },
      })),
      answer: {
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0]},{"object":"embedding","index":1,"embedding":[1]}],"model":"mistral-one","usage":{"prompt_tokens":18,"total_tokens":18}}',
      },
    },
    {
      name: "a validation error nested in an error names the client's field",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'x', dimensions: 0 },
      wire: [
        {
          path: '/v1/embeddings',
          body: { model: 'mistral-one', input: 'x', output_dimension: 0 },
          reply: {
            status: 422,
            body: '{"object":"error","message":{"detail":[{"type":"greater_than","loc":["body","output_dimension"],"msg":"Input should be greater than 0","input":0}]},"type":"invalid_request_error","param":null,"code":null}',
          },
        },
      ],
      answer: {
        status: 422,
        body: {
          error: {
            message: 'output_dimension: Input should be greater than 0',
            type: 'invalid_request_error',
            param: 'dimensions',
            code: 'upstream_refused',
            upstream: {
              object: 'error',
              message: {
                detail: [
                  {
                    type: 'greater_than',
                    loc: ['body', 'output_dimension'],
                    msg: 'Input should be greater than 0',
                    input: 0,
                  },
                ],
              },
              type: 'invalid_request_error',
              param: null,
              code: null,
            },
          },
        },
      },
    },
    {
      name: 'any flagged category flags the text, and categories that OpenAI lacks are kept in the original',
      route: '/v1/moderations',
      ask: { model: 'm', input: ['x', 'y'], metadata: { a: 1 } },
      wire: [
        {
          path: '/v1/moderations',
          body: { model: 'mistral-one', input: ['x', 'y'], metadata: { a: 1 } },
          reply: {
            body: `{"id":"m1","model":"mistral-2","usage":${judged.usage},"results":[${judged.dangerous},${judged.private}]}`,
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'mistral' },
        body: moderated(
          'mistral-2',
          [
            verdict(
              true,
              { illicit: [true, '7.0e-1'], 'self-harm': [false, '0.10'], violence: [true, '0.93'] },
              judged.dangerous,
            ),
            verdict(true, { sexual: [false, '0.0001'] }, judged.private),
          ],
          judged.usage,
        ),
      },
    },
    {
      name: 'with flagged_by: mapped, only categories that OpenAI has flag a text',
      route: '/v1/moderations',
      ask: { model: 'm', input: 'x' },
      upstream: { options: { flagged_by: 'mapped' } },
      wire: [
        {
          path: '/v1/moderations',
          body: { model: 'mistral-one', input: 'x' },
          reply: { body: `{"results":[${judged.private}]}` },
        },
      ],
      answer: { body: moderated('mistral-one', [verdict(false, { sexual: [false, '0.0001'] }, judged.private)]) },
    },
    {
      name: "a 401 is returned in OpenAI's error shape",
      route: '/v1/moderations',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path: '/v1/moderations',
          body: { model: 'mistral-one', input: 'x' },
          reply: { status: 401, body: { message: 'Unauthorized', request_id: 'r1' } },
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
            upstream: { message: 'Unauthorized', request_id: 'r1' },
          },
        },
      },
    },
  ],
});

function flat(status: number, message: string, code: string | null): WireReply {
  return { status, body: { object: 'error', message, type: 'invalid_request_error', param: null, code } };
}
