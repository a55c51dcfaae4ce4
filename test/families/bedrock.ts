/** Fixture of Bedrock's InvokeModel, for models whose bodies public clients show. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { ranked, tokensIn, vectorOf } from './wire.ts';

const titanBody = z.strictObject({
  inputText: z.string().min(1),
  dimensions: z.int().positive().optional(),
  normalize: z.boolean().optional(),
  embeddingTypes: z.array(z.string()).optional(),
});
const titanFirstBody = z.strictObject({ inputText: z.string().min(1) });
const novaBody = z.strictObject({
  taskType: z.literal('SINGLE_EMBEDDING'),
  singleEmbeddingParams: z.strictObject({
    embeddingPurpose: z.string(),
    embeddingDimension: z.int().positive().optional(),
    text: z.strictObject({ truncationMode: z.string(), value: z.string().min(1) }),
  }),
});
const cohereBody = z.strictObject({
  input_type: z.string(),
  texts: z.array(z.string()).min(1).max(96),
  truncate: z.string().optional(),
  embedding_types: z.tuple([z.literal('float')]).optional(),
  output_dimension: z.int().positive().optional(),
});
const cohereRerankBody = z.strictObject({
  api_version: z.literal(2),
  query: z.string(),
  documents: z.array(z.string()).min(1).max(1000),
  top_n: z.int().positive().optional(),
});
const amazonRerankBody = cohereRerankBody.omit({ api_version: true });

const counted = (...texts: readonly string[]) => ({
  'x-amzn-bedrock-input-token-count': String(tokensIn(...texts)),
});

function rerank({ query, documents, top_n: topN }: z.output<typeof amazonRerankBody>): WireReply {
  const results = ranked(query, documents).map(({ index, score }) => ({ index, relevance_score: score }));
  return { headers: counted(query, ...documents), body: { results: results.slice(0, topN) } };
}

/** By a part of the model's name. */
const services: Readonly<Record<string, (body: unknown) => WireReply>> = {
  'amazon.titan-embed-text-v1'(body) {
    const { inputText: text } = titanFirstBody.parse(body);
    return { body: { embedding: vectorOf(text), inputTextTokenCount: tokensIn(text) } };
  },
  'amazon.titan-embed-text-v2:0'(body) {
    const { inputText: text, dimensions } = titanBody.parse(body);
    return { body: { embedding: vectorOf(text, dimensions), inputTextTokenCount: tokensIn(text) } };
  },
  'amazon.nova-2-multimodal-embeddings-v1:0'(body) {
    const { text, embeddingDimension: width } = novaBody.parse(body).singleEmbeddingParams;
    const embedding = vectorOf(text.value, width);
    return { body: { embeddings: [{ embeddingType: 'TEXT', embedding }], inputTokenCount: tokensIn(text.value) } };
  },
  'cohere.embed-v4:0'(body) {
    const { texts, output_dimension: width } = cohereBody.parse(body);
    const float = texts.map((text) => vectorOf(text, width));
    return { headers: counted(...texts), body: { id: 'e-1', embeddings: { float }, texts } };
  },
  'cohere.rerank-v3-5:0': (body) => rerank(cohereRerankBody.parse(body)),
  'amazon.rerank-v1:0': (body) => rerank(amazonRerankBody.parse(body)),
};

export const bedrockError = (status: number, message: string, type = 'ValidationException'): WireReply => ({
  status,
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  body: { message },
});

/** The remaining checks once the caller is known. */
export function answerInvoke({ path, body }: Pick<WireCall, 'path' | 'body'>): WireReply {
  const [, name = ''] = /^\/model\/([^/]+)\/invoke$/.exec(path) ?? [];
  const [, serve] = Object.entries(services).find(([part]) => decodeURIComponent(name).includes(part)) ?? [];
  if (serve === undefined) return bedrockError(400, 'The provided model identifier is invalid.');
  try {
    return serve(body);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const [issue] = error.issues;
    return bedrockError(400, `Malformed input request: ${issue?.message}, please reformat your input and try again.`);
  }
}

const key = 'sk-service-0123456789';

export default defineFixture({
  family: 'bedrock',
  model: 'amazon.titan-embed-text-v2:0',
  models: { rerank: 'cohere.rerank-v3-5:0', chat: 'openai.gpt-oss-20b-1:0' },
  chat: '/openai/v1/chat/completions',
  basePath: '',
  upstream: { options: { region: 'us-east-1' } },
  statuses: { 408: 504, 424: 502 },
  withheld: [403],

  service(call: WireCall): WireReply {
    if (call.header('authorization') !== `Bearer ${key}`) {
      return bedrockError(403, 'Authentication failed', 'AccessDeniedException');
    }
    return answerInvoke(call);
  },

  error: (status, message) => bedrockError(status, message),

  pairs: [
    {
      name: "chat passes byte for byte to Bedrock's OpenAI-compatible path",
      route: '/v1/chat/completions',
      target: { model: 'openai.gpt-oss-20b-1:0' },
      ask: '{ "model":"m","messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}',
      wire: [
        {
          path: '/openai/v1/chat/completions',
          body: '{ "model":"openai.gpt-oss-20b-1:0","messages":[{"role":"user","content":"\\u00e9"}],"n":1.0}',
          headers: { authorization: `Bearer ${key}` },
          reply: { body: '{"choices":[],"usage":{"prompt_tokens":1.0}}\n' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'Titan is called once per input, and the token counts are summed',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'], dimensions: 1, normalize: false },
      wire: [
        { text: 'a', embedding: '[0.10]' },
        { text: 'b', embedding: '[1e-3]' },
      ].map(({ text, embedding }) => ({
        path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
        body: { inputText: text, dimensions: 1, normalize: false },
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' },
        reply: { body: `{"embedding":${embedding},"embeddingsByType":{"float":[9]},"inputTextTokenCount":3}` },
      })),
      answer: {
        headers: { 'x-postern-translated': 'bedrock' },
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10]},{"object":"embedding","index":1,"embedding":[1e-3]}],"model":"amazon.titan-embed-text-v2:0","usage":{"prompt_tokens":6,"total_tokens":6}}',
      },
    },
    {
      name: 'the legacy engines path serves Titan v1 by ARN, and drops dimensions, which it lacks',
      route: '/v1/engines/m/embeddings',
      ask: { input: 'a', dimensions: 256 },
      target: { model: 'arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v1' },
      wire: [
        {
          path: '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Afoundation-model%2Famazon.titan-embed-text-v1/invoke',
          body: { inputText: 'a' },
          reply: { body: { embedding: [1], inputTextTokenCount: 1 } },
        },
      ],
      answer: {
        headers: { 'x-postern-ignored': 'dimensions' },
        body: embeddingsAnswer([[1]], 1, 'arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v1'),
      },
    },
    {
      name: 'the multimodal Titan gets dimensions under its own name',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', dimensions: 1 },
      target: { model: 'amazon.titan-embed-image-v1' },
      wire: [
        {
          path: '/model/amazon.titan-embed-image-v1/invoke',
          body: { inputText: 'a', embeddingConfig: { outputEmbeddingLength: 1 } },
          reply: { body: { embedding: [1], inputTextTokenCount: 1 } },
        },
      ],
      answer: { body: embeddingsAnswer([[1]], 1, 'amazon.titan-embed-image-v1') },
    },
    {
      name: 'Nova is sent dimensions and embeddingPurpose in its own shape',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', dimensions: 1, embeddingPurpose: 'CLUSTERING' },
      target: { model: 'us.amazon.nova-2-multimodal-embeddings-v1:0' },
      wire: [
        {
          path: '/model/us.amazon.nova-2-multimodal-embeddings-v1%3A0/invoke',
          body: {
            taskType: 'SINGLE_EMBEDDING',
            singleEmbeddingParams: {
              embeddingPurpose: 'CLUSTERING',
              embeddingDimension: 1,
              text: { truncationMode: 'END', value: 'a' },
            },
          },
          reply: { body: '{"embeddings":[{"embeddingType":"TEXT","embedding":[0.10]}],"inputTokenCount":3}' },
        },
      ],
      answer: {
        body: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10]}],"model":"us.amazon.nova-2-multimodal-embeddings-v1:0","usage":{"prompt_tokens":3,"total_tokens":3}}',
      },
    },
    {
      name: 'Cohere Embed v4 gets dimensions, and its token count is read from a header',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'], dimensions: 1, truncate: 'END' },
      target: { model: 'eu.cohere.embed-v4:0' },
      wire: [
        {
          path: '/model/eu.cohere.embed-v4%3A0/invoke',
          body: {
            input_type: 'search_document',
            texts: ['a', 'b'],
            truncate: 'END',
            embedding_types: ['float'],
            output_dimension: 1,
          },
          reply: {
            headers: { 'X-Amzn-Bedrock-Input-Token-Count': '5' },
            body: '{"id":"e-1","embeddings":{"float":[[0.10],[1.0]]},"texts":["a","b"]}',
          },
        },
      ],
      answer: {
        body: '{"id":"e-1","object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10]},{"object":"embedding","index":1,"embedding":[1.0]}],"model":"eu.cohere.embed-v4:0","usage":{"prompt_tokens":5,"total_tokens":5}}',
      },
    },
    {
      name: 'Cohere Embed v3 drops dimensions, and its older answer shape is read',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', input_type: 'search_query', dimensions: 256 },
      target: { model: 'cohere.embed-multilingual-v3' },
      wire: [
        {
          path: '/model/cohere.embed-multilingual-v3/invoke',
          body: { input_type: 'search_query', texts: ['a'] },
          reply: { body: { id: 'e-1', embeddings: [[1]], texts: ['a'], response_type: 'embeddings_floats' } },
        },
      ],
      answer: {
        headers: { 'x-postern-ignored': 'dimensions', 'x-postern-usage': 'estimated' },
        body: {
          id: 'e-1',
          object: 'list',
          data: [{ object: 'embedding', index: 0, embedding: [1] }],
          model: 'cohere.embed-multilingual-v3',
          usage: { prompt_tokens: 1, total_tokens: 1 },
        },
      },
    },
    {
      name: 'embeddings for a model that does not embed get 400 without an upstream call',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      target: { model: 'anthropic.claude-v2' },
      wire: [],
      answer: {
        status: 400,
        body: {
          error: {
            message:
              'The field "model" cannot be served: the upstream "up" embeds with Titan, Nova and Cohere models only, and tells whose a model is by its name; change it, or ask the operator for a target that can.',
            type: 'invalid_request_error',
            param: 'model',
            code: 'unsupported_parameter',
          },
        },
      },
    },
    {
      name: 'an empty input list returns an empty list from a model that accepts one text per call',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [] },
      target: { model: 'us.amazon.nova-2-multimodal-embeddings-v1:0' },
      wire: [
        {
          path: '/model/us.amazon.nova-2-multimodal-embeddings-v1%3A0/invoke',
          body: {
            taskType: 'SINGLE_EMBEDDING',
            singleEmbeddingParams: {
              embeddingPurpose: 'GENERIC_INDEX',
              text: { truncationMode: 'END', value: '' },
            },
          },
          reply: { body: { embeddings: [{ embeddingType: 'TEXT', embedding: [1] }], inputTokenCount: 0 } },
        },
      ],
      answer: { body: embeddingsAnswer([], 0, 'us.amazon.nova-2-multimodal-embeddings-v1:0') },
    },
    {
      name: "Cohere's reranker is sent texts and its required api_version",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', { text: 'b' }], top_n: 1, return_documents: true },
      target: { model: 'cohere.rerank-v3-5:0' },
      wire: [
        {
          path: '/model/cohere.rerank-v3-5%3A0/invoke',
          body: { api_version: 2, query: 'q', documents: ['a', 'b'], top_n: 1 },
          reply: { body: '{"results":[{"index":1,"relevance_score":0.90}]}' },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'bedrock' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"cohere.rerank-v3-5:0","results":[{"index":1,"relevance_score":0.90,"document":{"text":"b"}}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":4,"total_tokens":4}}',
      },
    },
    {
      name: "Amazon's reranker is sent no api_version",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a', 'b'] },
      target: { model: 'amazon.rerank-v1:0' },
      wire: [
        {
          path: '/model/amazon.rerank-v1%3A0/invoke',
          body: { query: 'q', documents: ['a', 'b'] },
          reply: {
            headers: { 'x-amzn-bedrock-input-token-count': '6' },
            body: '{"results":[{"index":0,"relevance_score":0.5},{"index":1,"relevance_score":0.25}]}',
          },
        },
      ],
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model: 'amazon.rerank-v1:0',
          results: [
            { index: 0, relevance_score: 0.5 },
            { index: 1, relevance_score: 0.25 },
          ],
          meta: { api_version: { version: '2' }, billed_units: {} },
          usage: { prompt_tokens: 6, total_tokens: 6 },
        },
      },
    },
    {
      name: "an error is returned in OpenAI's shape, although Bedrock names its class in a header only",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
          body: { inputText: 'a' },
          reply: { ...bedrockError(400, ''), body: { Message: 'Malformed input request' } },
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'Malformed input request',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { Message: 'Malformed input request' },
          },
        },
      },
    },
    {
      name: "an error message that names the operator's AWS account is withheld",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
          body: { inputText: 'a' },
          reply: bedrockError(403, 'User: arn:aws:iam::123456789012:user/x is not authorized', 'AccessDeniedException'),
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
