/** Fixture of Vertex AI's embeddings, by its docs and SDKs. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { generate, googleError } from './gemini.ts';
import { tokensIn, vectorOf } from './wire.ts';

const token = 'ya29.a-ready-access-token';
const models = '/v1/projects/p-1/locations/us-central1/publishers/google/models';
const model = 'text-embedding-005';
const chat = '/v1/projects/p-1/locations/us-central1/endpoints/openapi/chat/completions';

const mostInstances = 250;

const taskType = z.enum(['RETRIEVAL_QUERY', 'RETRIEVAL_DOCUMENT', 'CLASSIFICATION', 'CLUSTERING']).optional();
const width = z.int().positive().optional();
const predictBody = z.strictObject({
  instances: z.array(z.strictObject({ content: z.string(), task_type: taskType, title: z.string().optional() })),
  parameters: z.strictObject({ outputDimensionality: width, autoTruncate: z.boolean().optional() }).optional(),
});
const embedContentBody = z.strictObject({
  content: z.strictObject({ parts: z.tuple([z.strictObject({ text: z.string() })]) }),
  embedContentConfig: z
    .strictObject({
      taskType,
      title: z.string().optional(),
      outputDimensionality: width,
      autoTruncate: z.boolean().optional(),
    })
    .optional(),
});

function predict(name: string, body: unknown): WireReply {
  const { instances, parameters } = predictBody.parse(body);
  const most = name.startsWith('gemini-') ? 1 : mostInstances;
  if (instances.length === 0) return googleError(400, 'instances is empty');
  if (instances.length > most) return googleError(400, `${instances.length} instance(s) is more than ${most}`);
  if (tokensIn(...instances.map(({ content }) => content)) > 20_000 * 4) return googleError(400, 'too many tokens');
  return {
    body: {
      predictions: instances.map(({ content }) => ({
        embeddings: {
          values: vectorOf(content, parameters?.outputDimensionality),
          statistics: { token_count: tokensIn(content), truncated: false },
        },
      })),
    },
  };
}

function embedContent(body: unknown): WireReply {
  const { content, embedContentConfig: config } = embedContentBody.parse(body);
  const [{ text }] = content.parts;
  return {
    body: {
      embedding: { values: vectorOf(text, config?.outputDimensionality) },
      usageMetadata: { promptTokenCount: tokensIn(text) },
    },
  };
}

export default defineFixture({
  family: 'vertex',
  model,
  models: { chat: 'google/gemini-2.5-flash' },
  chat,
  basePath: '/v1',
  upstream: { api_key: token, options: { project: 'p-1', location: 'us-central1' } },

  service({ path, body, header }: WireCall): WireReply {
    if (header('authorization') !== `Bearer ${token}`) return googleError(401, 'invalid authentication credentials');
    const [, name = '', method] = path.startsWith(models) ? (/\/([a-z0-9-]+):(\w+)$/.exec(path) ?? []) : [];
    const hasOwnMethod = name.startsWith('gemini-embedding-2');
    if (method === 'predict' && !hasOwnMethod) return predict(name, body);
    if (method === 'generateContent') return generate(body);
    if (method === 'embedContent' && hasOwnMethod) return embedContent(body);
    return googleError(404, `Publisher Model ${path} not found.`);
  },

  error: (status, message) => googleError(status, message),

  passesErrors: ['generate'],

  pairs: [
    {
      name: "chat passes byte for byte to Vertex's OpenAI-compatible path, with google/ before the model name",
      route: '/v1/chat/completions',
      target: { model: 'gemini-2.5-flash' },
      ask: '{ "model":"m","messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}',
      wire: [
        {
          path: chat,
          body: '{ "model":"google/gemini-2.5-flash","messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}',
          headers: { authorization: `Bearer ${token}` },
          reply: { body: '{"choices":[],"usage":{"prompt_tokens":1.0}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'a completion emulated over chat has google/ before the model name, too',
      route: '/v1/completions',
      target: { model: 'gemini-2.5-flash', bridge: 'chat' },
      ask: { model: 'm', prompt: 'x' },
      wire: [
        {
          path: chat,
          body: { model: 'google/gemini-2.5-flash', messages: [{ role: 'user', content: 'x' }] },
          reply: {
            body: {
              id: 'c-1',
              object: 'chat.completion',
              created: 1_790_000_000,
              model: 'google/gemini-2.5-flash',
              choices: [{ index: 0, message: { role: 'assistant', content: 'y' }, finish_reason: 'stop' }],
              usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
            },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'chat' },
        body: {
          id: 'cmpl-c-1',
          object: 'text_completion',
          created: 1_790_000_000,
          model: 'google/gemini-2.5-flash',
          choices: [{ text: 'y', index: 0, logprobs: null, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        },
      },
    },
    {
      name: 'generateContent passes byte for byte to the same method',
      route: '/v1beta/models/m:generateContent',
      ask: '{ "contents":[{"role":"user","parts":[{"text":"\\u00e9"}]}], "generationConfig":{"temperature":1.0} }',
      wire: [
        {
          path: `${models}/${model}:generateContent`,
          body: '{ "contents":[{"role":"user","parts":[{"text":"\\u00e9"}]}], "generationConfig":{"temperature":1.0} }',
          headers: { authorization: `Bearer ${token}`, 'x-goog-api-key': null },
          reply: { body: '{"candidates":[],"usageMetadata":{"promptTokenCount":1.0}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'embedContent passes byte for byte to a model that has this method',
      route: '/v1beta/models/m:embedContent',
      ask: { content: { parts: [{ text: 'a' }] } },
      target: { model: 'gemini-embedding-2' },
      wire: [
        {
          path: `${models}/gemini-embedding-2:embedContent`,
          body: { content: { parts: [{ text: 'a' }] } },
          reply: { body: '{"embedding":{"values":[0.10]},"usageMetadata":{"promptTokenCount":1}}' },
        },
      ],
    },
    {
      name: 'batchEmbedContents, which Vertex lacks, is sent as instances of predict',
      route: '/v1beta/models/m:batchEmbedContents',
      ask: { requests: [{ content: { parts: [{ text: 'a' }] } }, { content: { parts: [{ text: 'b' }] } }] },
      wire: [
        {
          path: `${models}/${model}:predict`,
          body: { instances: [{ content: 'a' }, { content: 'b' }] },
          reply: { body: { predictions: [{ embeddings: { values: [0.1] } }, { embeddings: { values: [0.2] } }] } },
        },
      ],
      answer: { body: { embeddings: [{ values: [0.1] }, { values: [0.2] }] } },
    },
    {
      name: 'embedding inputs are sent as instances of predict, options as parameters, and token counts are summed',
      route: '/v1/embeddings',
      ask: {
        model: 'm',
        input: ['a', 'b'],
        dimensions: 2,
        task_type: 'RETRIEVAL_DOCUMENT',
        title: 't',
        autoTruncate: false,
      },
      wire: [
        {
          path: `${models}/${model}:predict`,
          body: {
            instances: ['a', 'b'].map((content) => ({ content, task_type: 'RETRIEVAL_DOCUMENT', title: 't' })),
            parameters: { outputDimensionality: 2, autoTruncate: false },
          },
          headers: { authorization: `Bearer ${token}`, 'x-goog-api-key': null },
          reply: {
            body: '{"predictions":[{"embeddings":{"values":[0.10,1],"statistics":{"token_count":4,"truncated":false}}},{"embeddings":{"values":[1e-3,2],"statistics":{"token_count":3.0}}}]}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'vertex', 'x-postern-usage': null },
        body: `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,1]},{"object":"embedding","index":1,"embedding":[1e-3,2]}],"model":"${model}","usage":{"prompt_tokens":7,"total_tokens":7}}`,
      },
    },
    {
      name: 'the legacy engines path goes to predict without added fields',
      route: '/v1/engines/m/embeddings',
      ask: { input: 'a' },
      wire: [
        {
          path: `${models}/${model}:predict`,
          body: '{"instances":[{"content":"a"}]}',
          reply: { body: { predictions: [{ embeddings: { values: [1] } }] } },
        },
      ],
      answer: {
        headers: { 'x-postern-usage': 'estimated' },
        body: embeddingsAnswer([[1]], 1, model),
      },
    },
    {
      name: 'gemini-embedding-001 is called once per input, and its shortened vectors are normalised',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'], dimensions: 2 },
      target: { model: 'gemini-embedding-001' },
      wire: [
        { text: 'a', values: '[3,4]' },
        { text: 'b', values: '[0.6,0.8]' },
      ].map(({ text, values }) => ({
        path: `${models}/gemini-embedding-001:predict`,
        body: { instances: [{ content: text }], parameters: { outputDimensionality: 2 } },
        reply: { body: `{"predictions":[{"embeddings":{"values":${values},"statistics":{"token_count":5}}}]}` },
      })),
      answer: {
        body: embeddingsAnswer(
          [
            [0.6, 0.8],
            [0.6, 0.8],
          ],
          10,
          'gemini-embedding-001',
        ),
      },
    },
    {
      name: 'gemini-embedding-2 is called by embedContent instead of predict',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', dimensions: 2, taskType: 'CLUSTERING' },
      target: { model: 'gemini-embedding-2-preview' },
      wire: [
        {
          path: `${models}/gemini-embedding-2-preview:embedContent`,
          body: {
            content: { parts: [{ text: 'a' }] },
            embedContentConfig: { taskType: 'CLUSTERING', outputDimensionality: 2 },
          },
          reply: { body: '{"embedding":{"values":[3,4.0]},"usageMetadata":{"promptTokenCount":2},"truncated":false}' },
        },
      ],
      answer: {
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[3,4.0]}],"model":"gemini-embedding-2-preview","usage":{"prompt_tokens":2,"total_tokens":2}}',
      },
    },
    {
      name: 'an empty input list returns an empty list from a model that accepts one text per call',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [] },
      target: { model: 'gemini-embedding-2-preview' },
      wire: [
        {
          path: `${models}/gemini-embedding-2-preview:embedContent`,
          body: { content: { parts: [{ text: '' }] } },
          reply: { body: { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 0 } } },
        },
      ],
      answer: { body: embeddingsAnswer([], 0, 'gemini-embedding-2-preview') },
    },
    {
      name: "an error message that names the operator's Google project is withheld",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: `${models}/${model}:predict`,
          body: { instances: [{ content: 'a' }] },
          reply: googleError(403, 'Permission denied on resource projects/p-1'),
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
  ],
});
