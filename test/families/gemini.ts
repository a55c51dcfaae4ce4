/** Fixture of the Gemini API's embeddings, by Google's own SDK and recorded responses. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { replyTo, tokensIn, vectorOf } from './wire.ts';

const mostRequests = 100;
const mostBytes = 4_194_304;

const request = z.strictObject({
  model: z.string().regex(/^models\/[a-z0-9-]+$/),
  content: z.strictObject({
    role: z.literal('user').optional(),
    parts: z.tuple([z.strictObject({ text: z.string() })]),
  }),
  taskType: z.enum(['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'CLASSIFICATION', 'CLUSTERING']).optional(),
  title: z.string().optional(),
  outputDimensionality: z.int().positive().optional(),
});
const batch = z.strictObject({ requests: z.array(request) });

const embed = ({ content, outputDimensionality: width }: z.output<typeof request>): { values: number[] } => ({
  values: vectorOf(content.parts[0].text, width),
});

const words: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

export const googleError = (status: number, message: string, details: readonly object[] = []): WireReply => ({
  status,
  body: { error: { code: status, message, status: words[status] ?? 'UNKNOWN', details } },
});

/** Answers `generateContent` as both of its services do. */
export function generate(body: unknown): WireReply {
  const { contents } = asked.parse(body);
  const text = replyTo(JSON.stringify(contents.at(-1)?.parts));
  return {
    body: {
      candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: tokensIn(JSON.stringify(contents)), candidatesTokenCount: tokensIn(text) },
    },
  };
}

const asked = z.looseObject({ contents: z.array(z.looseObject({ parts: z.array(z.looseObject({})) })).min(1) });

const key = 'sk-service-0123456789';
const model = 'gemini-embedding-2-preview';

const oneOf = (text: string, more: object = {}) => ({
  model: `models/${model}`,
  content: { parts: [{ text }] },
  ...more,
});

export default defineFixture({
  family: 'gemini',
  model,
  basePath: '/v1beta',
  chat: '/v1beta/openai/chat/completions',

  service({ path, body, text, header }: WireCall): WireReply {
    if (header('x-goog-api-key') !== key || header('authorization') !== undefined) {
      return googleError(400, 'API key not valid. Please pass a valid API key.', [{ reason: 'API_KEY_INVALID' }]);
    }
    if (Buffer.byteLength(text) > mostBytes) {
      return googleError(400, `Request payload size exceeds the limit: ${mostBytes} bytes.`);
    }
    const [, name, method] = /^\/v1beta\/models\/([a-z0-9-]+):(\w+)$/.exec(path) ?? [];
    if (method === 'embedContent') {
      const asked = request.parse(body);
      if (asked.model !== `models/${name}`) return googleError(400, 'model does not match the URL');
      return { body: { embedding: embed(asked) } };
    }
    if (method === 'generateContent') return generate(body);
    if (method !== 'batchEmbedContents') return { status: 404, body: '' };
    const { requests } = batch.parse(body);
    if (requests.length === 0) return googleError(400, '* BatchEmbedContentsRequest.requests: is required');
    if (requests.length > mostRequests) return googleError(400, 'at most 100 requests can be in one batch');
    if (requests.some((one) => one.model !== `models/${name}`)) return googleError(400, 'models differ');
    return { body: { embeddings: requests.map(embed) } };
  },

  error: (status, message) => googleError(status, message),

  passesErrors: ['generate'],

  pairs: [
    {
      name: "chat passes to Google's OpenAI-compatible path, with the key as a bearer token",
      route: '/v1/chat/completions',
      ask: '{"model":"m","messages":[{"role":"user","content":"x"}],"n":1.0}',
      wire: [
        {
          path: '/v1beta/openai/chat/completions',
          body: `{"model":"${model}","messages":[{"role":"user","content":"x"}],"n":1.0}`,
          headers: { authorization: `Bearer ${key}`, 'x-goog-api-key': null },
          reply: { body: '{"choices":[],"usage":{"prompt_tokens":1.0}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: "an error of chat, which Google sends as a list of one, is returned in OpenAI's shape",
      route: '/v1/chat/completions',
      ask: { model: 'm', messages: [] },
      wire: [
        {
          path: '/v1beta/openai/chat/completions',
          body: { model, messages: [] },
          reply: { status: 400, body: [googleError(400, 'contents is not specified').body] },
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'contents is not specified',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: [googleError(400, 'contents is not specified').body],
          },
        },
      },
    },
    {
      name: 'generateContent passes byte for byte to the same method',
      route: '/v1beta/models/m:generateContent',
      ask: '{ "contents":[{"role":"user","parts":[{"text":"\\u00e9"}]}], "generationConfig":{"temperature":1.0} }',
      wire: [
        {
          path: `/v1beta/models/${model}:generateContent`,
          body: '{ "contents":[{"role":"user","parts":[{"text":"\\u00e9"}]}], "generationConfig":{"temperature":1.0} }',
          headers: { 'x-goog-api-key': key, authorization: null },
          reply: { body: '{"candidates":[],"usageMetadata":{"promptTokenCount":1.0}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: "an error of generateContent is returned in Google's shape",
      route: '/v1beta/models/m:generateContent',
      ask: { contents: [] },
      wire: [
        {
          path: `/v1beta/models/${model}:generateContent`,
          body: { contents: [] },
          reply: googleError(400, 'contents is not specified'),
        },
      ],
      answer: { status: 400, body: googleError(400, 'contents is not specified').body },
    },
    {
      name: 'one embedding input is sent to embedContent without added fields',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', user: 'u-1' },
      wire: [
        {
          path: `/v1beta/models/${model}:embedContent`,
          body: oneOf('a'),
          headers: { 'x-goog-api-key': key, authorization: null },
          reply: { body: '{"embedding":{"values":[0.10,-1e-3, 3.0000000000000001]}}' },
        },
      ],
      answer: {
        headers: {
          'x-postern-translated': 'gemini',
          'x-postern-usage': 'estimated',
          'x-postern-ignored': 'user',
        },
        body: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,-1e-3, 3.0000000000000001]}],"model":"${model}","usage":{"prompt_tokens":1,"total_tokens":1}}`,
      },
    },
    {
      name: 'several embedding inputs are one batchEmbedContents call, each with model, task type and dimensions',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'], dimensions: 2, taskType: 'RETRIEVAL_DOCUMENT', title: 't' },
      wire: [
        {
          path: `/v1beta/models/${model}:batchEmbedContents`,
          body: {
            requests: ['a', 'b'].map((text) =>
              oneOf(text, { taskType: 'RETRIEVAL_DOCUMENT', title: 't', outputDimensionality: 2 }),
            ),
          },
          reply: { body: '{"embeddings":[{"values":[0.50,1]},{"values":[1,-0]}]}' },
        },
      ],
      answer: {
        body: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.50,1]},{"object":"embedding","index":1,"embedding":[1,-0]}],"model":"${model}","usage":{"prompt_tokens":2,"total_tokens":2}}`,
      },
    },
    {
      name: 'the legacy engines path goes to the embeddings, also for a model name that begins with models/',
      route: '/v1/engines/m/embeddings',
      ask: { input: ['a'] },
      target: { model: `models/${model}` },
      wire: [
        {
          path: `/v1beta/models/${model}:embedContent`,
          body: oneOf('a'),
          reply: { body: { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 7 } } },
        },
      ],
      answer: {
        headers: { 'x-postern-usage': null },
        body: embeddingsAnswer([[1]], 7, `models/${model}`),
      },
    },
    {
      name: 'shortened vectors of gemini-embedding-001 are normalised to unit length',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'], dimensions: 2 },
      target: { model: 'gemini-embedding-001' },
      wire: [
        {
          path: '/v1beta/models/gemini-embedding-001:batchEmbedContents',
          body: {
            requests: ['a', 'b'].map((text) => ({
              ...oneOf(text),
              model: 'models/gemini-embedding-001',
              outputDimensionality: 2,
            })),
          },
          reply: { body: '{"embeddings":[{"values":[0.30,0.4]},{"values":[0,0.0]}]}' },
        },
      ],
      answer: {
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.6,0.8]},{"object":"embedding","index":1,"embedding":[0,0.0]}],"model":"gemini-embedding-001","usage":{"prompt_tokens":2,"total_tokens":2}}',
      },
    },
    {
      name: "vectors of gemini-embedding-001 at full width keep Google's digits",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      target: { model: 'gemini-embedding-001' },
      wire: [
        {
          path: '/v1beta/models/gemini-embedding-001:embedContent',
          body: { ...oneOf('a'), model: 'models/gemini-embedding-001' },
          reply: { body: '{"embedding":{"values":[0.30,0.40]}}' },
        },
      ],
      answer: {
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.30,0.40]}],"model":"gemini-embedding-001","usage":{"prompt_tokens":1,"total_tokens":1}}',
      },
    },
    {
      name: "input_type is sent as Google's taskType, and overrides the operator's default",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', input_type: 'search_query' },
      target: { defaults: { taskType: 'RETRIEVAL_DOCUMENT' } },
      wire: [
        {
          path: `/v1beta/models/${model}:embedContent`,
          body: oneOf('a', { taskType: 'RETRIEVAL_QUERY' }),
          reply: { body: { embedding: { values: [1] } } },
        },
      ],
      answer: { body: embeddingsAnswer([[1]], 1, model) },
    },
    {
      name: 'input_type passage, which NVIDIA and E5 clients send, becomes RETRIEVAL_DOCUMENT',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', input_type: 'passage' },
      wire: [
        {
          path: `/v1beta/models/${model}:embedContent`,
          body: oneOf('a', { taskType: 'RETRIEVAL_DOCUMENT' }),
          reply: { body: { embedding: { values: [1] } } },
        },
      ],
      answer: { body: embeddingsAnswer([[1]], 1, model) },
    },
    {
      name: 'an input_type without a matching taskType is refused by name',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', input_type: 'image' },
      wire: [],
      answer: {
        status: 400,
        body: {
          error: {
            message:
              'The field "input_type" cannot be served: the upstream "up" knows it as one of search_document, document, passage, search_query, query, classification, clustering here; "taskType" is its own name; leave it out, or ask the operator for a target that can.',
            type: 'invalid_request_error',
            param: 'input_type',
            code: 'unsupported_parameter',
          },
        },
      },
    },
    {
      name: 'a 429 in a list of one is read, and its retryDelay becomes a Retry-After header',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: `/v1beta/models/${model}:embedContent`,
          body: oneOf('a'),
          reply: {
            status: 429,
            body: [
              {
                error: {
                  code: 429,
                  message: 'Quota exceeded',
                  status: 'RESOURCE_EXHAUSTED',
                  details: [{ '@type': 'QuotaFailure' }, { '@type': 'RetryInfo', retryDelay: '11.2s' }],
                },
              },
            ],
          },
        },
      ],
      answer: {
        status: 429,
        headers: { 'retry-after': '12' },
        body: {
          error: {
            message: 'Quota exceeded',
            type: 'rate_limit_error',
            param: null,
            code: 'rate_limit_exceeded',
            upstream: [
              {
                error: {
                  code: 429,
                  message: 'Quota exceeded',
                  status: 'RESOURCE_EXHAUSTED',
                  details: [{ '@type': 'QuotaFailure' }, { '@type': 'RetryInfo', retryDelay: '11.2s' }],
                },
              },
            ],
          },
        },
      },
    },
    {
      name: "an error message that names the operator's Google project is withheld",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: `/v1beta/models/${model}:embedContent`,
          body: oneOf('a'),
          reply: googleError(403, 'The API has not been used in project 123456789 before'),
        },
      ],
      answer: {
        status: 403,
        body: {
          error: {
            message:
              "The upstream answered 403 and speaks of the operator's account in it; its words are withheld. Tell the operator.",
            type: 'permission_error',
            param: null,
            code: 'upstream_denied',
          },
        },
      },
    },
    {
      name: 'a 400 for an invalid API key is reported as a wrong key of the gateway',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      upstream: { api_key: 'sk-another-0123456789' },
      wire: [
        {
          path: `/v1beta/models/${model}:embedContent`,
          body: oneOf('a'),
          reply: googleError(400, 'API key not valid. Please pass a valid API key.', [{ reason: 'API_KEY_INVALID' }]),
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'The upstream does not take the key that the gateway has for it; tell the operator.',
            type: 'upstream_error',
            param: null,
            code: 'upstream_denied',
            upstream: googleError(400, 'API key not valid. Please pass a valid API key.', [
              { reason: 'API_KEY_INVALID' },
            ]).body,
          },
        },
      },
    },
  ],
});
