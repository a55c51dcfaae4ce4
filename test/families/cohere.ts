/** Fixture of Cohere, by its OpenAPI document: version 2, and 1 if configured. */

import * as z from 'zod';
import { defineFixture, embeddingsAnswer, type WireCall, type WireReply } from './fixture.ts';
import { ranked, tokensIn, vectorOf } from './wire.ts';

const model = 'embed-english-v3.0';
const mostTexts = 96;

const inputType = z.enum(['search_document', 'search_query', 'classification', 'clustering', 'image']);
const embedBody = z.object({
  model: z.string(),
  input_type: inputType,
  texts: z.array(z.string()).min(1),
  embedding_types: z.array(z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'])).optional(),
  output_dimension: z.literal([256, 512, 1024, 1536]).optional(),
  truncate: z.enum(['NONE', 'START', 'END']).optional(),
});
const rerankBody = z.object({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.string()).min(1).max(10_000),
  top_n: z.int().min(1).optional(),
  max_tokens_per_doc: z.int().optional(),
});

const said = (message: string) => ({ message, id: '7b0f1a1e-0000-4000-8000-000000000000' });

/** Of several texts, `t0` and on. */
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `t${from + index}`);

const vectors = (texts: readonly string[]) => texts.map((text) => [text.length, 0.5]);

function refusal(param: string, why: string) {
  const message = `The field "${param}" cannot be served: the upstream "up" ${why}; leave it out, or ask the operator for a target that can.`;
  return { error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' } };
}

const asV1 = { options: { api_version: 'v1' } };

export default defineFixture({
  family: 'cohere',
  chat: '/compatibility/v1/chat/completions',
  model,
  statuses: { 498: 400, 499: 502 },

  service({ path, body }: WireCall): WireReply {
    if (path === '/v2/embed') {
      const parsed = embedBody.safeParse(body);
      if (!parsed.success) return { status: 400, body: said(parsed.error.message) };
      const { texts, output_dimension: width } = parsed.data;
      if (texts.length > mostTexts) return { status: 400, body: said(`at most ${mostTexts} texts`) };
      return {
        body: {
          id: 'e1',
          texts,
          embeddings: { float: texts.map((text) => vectorOf(text, width)) },
          meta: { api_version: { version: '2' }, billed_units: { input_tokens: tokensIn(...texts) } },
        },
      };
    }
    if (path !== '/v2/rerank') return { status: 404, body: said('no such path') };
    const parsed = rerankBody.safeParse(body);
    if (!parsed.success) return { status: 400, body: said(parsed.error.message) };
    const { query, documents, top_n: top } = parsed.data;
    return {
      body: {
        id: 'r1',
        results: ranked(query, documents)
          .slice(0, top)
          .map(({ index, score }) => ({ index, relevance_score: score })),
        meta: { api_version: { version: '2' }, billed_units: { search_units: Math.ceil(documents.length / 100) } },
      },
    };
  },

  error: (status, message) => ({ status, body: said(message) }),

  pairs: [
    {
      name: "texts are sent with the required input_type, and vectors keep Cohere's digits",
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a', 'b'], user: 'u-1', dimensions: null },
      wire: [
        {
          path: '/v2/embed',
          body: { input_type: 'search_document', model, texts: ['a', 'b'], embedding_types: ['float'] },
          reply: {
            headers: { 'x-api-warning': 'a model of yours is old' },
            body: '{"id":"e1","embeddings":{"float":[[0.0160,-8e-3],[1E0,0]]},"texts":["a","b"],"meta":{"billed_units":{"input_tokens":4}}}',
          },
        },
      ],
      answer: {
        headers: {
          'x-postern-translated': 'cohere',
          'x-postern-ignored': 'user',
          'x-postern-usage': null,
          'x-api-warning': 'a model of yours is old',
        },
        body: '{"id":"e1","object":"list","data":[{"object":"embedding","index":0,"embedding":[0.0160,-8e-3]},{"object":"embedding","index":1,"embedding":[1E0,0]}],"model":"embed-english-v3.0","usage":{"prompt_tokens":4,"total_tokens":4}}',
      },
    },
    {
      name: "base64 is made from Cohere's floats, and missing usage is estimated",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'hello', encoding_format: 'base64', input_type: 'search_query', truncate: 'NONE' },
      wire: [
        {
          path: '/v2/embed',
          body: {
            input_type: 'search_query',
            truncate: 'NONE',
            model,
            texts: ['hello'],
            embedding_types: ['float'],
          },
          reply: { body: { id: 'e1', embeddings: { float: [[0.5, -1]] } } },
        },
      ],
      answer: {
        headers: { 'x-postern-usage': 'estimated' },
        body: {
          id: 'e1',
          object: 'list',
          data: [{ object: 'embedding', index: 0, embedding: 'AAAAPwAAgL8=' }],
          model,
          usage: { prompt_tokens: 2, total_tokens: 2 },
        },
      },
    },
    {
      name: 'dimensions are sent as output_dimension to models with several widths',
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', dimensions: 1 },
      target: { model: 'embed-v4.0' },
      wire: [
        {
          path: '/v2/embed',
          body: {
            input_type: 'search_document',
            model: 'embed-v4.0',
            texts: ['a'],
            embedding_types: ['float'],
            output_dimension: 1,
          },
          reply: { body: { embeddings: { float: [[0.5]] }, meta: { billed_units: { input_tokens: 1 } } } },
        },
      ],
      answer: {
        headers: { 'x-postern-ignored': null },
        body: embeddingsAnswer([[0.5]], 1, 'embed-v4.0'),
      },
    },
    {
      name: '97 texts take two calls; vectors stay in order and token counts are summed',
      route: '/v1/embeddings',
      ask: { model: 'm', input: numbered(97) },
      wire: [numbered(96), numbered(1, 96)].map((texts) => ({
        path: '/v2/embed',
        body: { input_type: 'search_document', model, texts, embedding_types: ['float'] },
        reply: {
          body: { embeddings: { float: vectors(texts) }, meta: { billed_units: { input_tokens: texts.length } } },
        },
      })),
      answer: {
        body: {
          object: 'list',
          data: vectors(numbered(97)).map((embedding, index) => ({ object: 'embedding', index, embedding })),
          model,
          usage: { prompt_tokens: 97, total_tokens: 97 },
        },
      },
    },
    {
      name: "Cohere's embedding_types field is refused by name on the OpenAI route",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a', embedding_types: ['int8'] },
      wire: [],
      answer: {
        status: 400,
        body: refusal('embedding_types', 'is asked for floats here ("encoding_format" has "base64", too)'),
      },
    },
    {
      name: 'images are refused by name on the OpenAI route',
      route: '/v1/embeddings',
      ask: { model: 'm', input: [], images: ['data:image/png;base64,AAAA'] },
      wire: [],
      answer: { status: 400, body: refusal('images', 'takes texts alone here, as "input"') },
    },
    {
      name: 'the v1 API has its own path, and its plain list of vectors is read',
      route: '/v1/embeddings',
      ask: { model: 'm', input: ['a'] },
      upstream: asV1,
      wire: [
        {
          path: '/v1/embed',
          body: { input_type: 'search_document', model, texts: ['a'], embedding_types: ['float'] },
          reply: {
            body: {
              response_type: 'embeddings_floats',
              embeddings: [[0.25]],
              meta: { billed_units: { input_tokens: 1 } },
            },
          },
        },
      ],
      answer: { body: embeddingsAnswer([[0.25]], 1, model) },
    },
    {
      name: "the legacy engines path goes to Cohere's embed API",
      route: '/v1/engines/m/embeddings',
      ask: { input: 'a' },
      wire: [
        {
          path: '/v2/embed',
          body: { input_type: 'search_document', model, texts: ['a'], embedding_types: ['float'] },
          reply: { body: { embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 1 } } } },
        },
      ],
      answer: { body: embeddingsAnswer([[1]], 1, model) },
    },
    {
      name: 'rerank of texts passes byte for byte, without an added top_n',
      route: '/v1/rerank',
      ask: '{"model":"m", "query":"q", "documents":["a","b"], "max_tokens_per_doc":1e3}',
      wire: [
        {
          path: '/v2/rerank',
          body: '{"model":"embed-english-v3.0", "query":"q", "documents":["a","b"], "max_tokens_per_doc":1e3}',
          reply: {
            headers: { 'x-api-warning': 'documents were cut' },
            body: '{"id":"r1","results":[{"index":1,"relevance_score":0.990},{"index":0,"relevance_score":0.12}],"meta":{"billed_units":{"search_units":1}}}',
          },
        },
      ],
      answer: { headers: { 'x-postern-translated': null, 'x-api-warning': 'documents were cut' } },
    },
    {
      name: 'a null field of the v1 rerank API passes to the v2 API unchanged',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":["a"],"max_chunks_per_doc":null}',
      wire: [
        {
          path: '/v2/rerank',
          body: '{"model":"embed-english-v3.0","query":"q","documents":["a"],"max_chunks_per_doc":null}',
          reply: { body: '{"results":[{"index":0,"relevance_score":0.5}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: 'return_documents is not sent to the v2 API, which lacks it',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'], return_documents: false },
      wire: [
        {
          path: '/v2/rerank',
          body: { model, query: 'q', documents: ['a'] },
          reply: { body: '{"results":[{"index":0,"relevance_score":0.5}]}' },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'cohere' },
        body: `{"id":"rerank-{exchange}","object":"list","model":"${model}","results":[{"index":0,"relevance_score":0.5}],"meta":{"api_version":{"version":"2"},"billed_units":{}},"usage":{"prompt_tokens":2,"total_tokens":2}}`,
      },
    },
    {
      name: 'the v2 API gets documents as text, and the gateway adds the documents to the results',
      route: '/v1/rerank',
      ask: {
        model: 'm',
        query: 'q',
        documents: ['a', { title: 'B', text: 'b' }],
        rank_fields: ['title', 'text'],
        return_documents: true,
        top_n: null,
      },
      wire: [
        {
          path: '/v2/rerank',
          body: { model, query: 'q', documents: ['a', 'title: B\ntext: b'] },
          reply: {
            body: '{"id":"r1","results":[{"index":1,"relevance_score":0.990},{"index":0,"relevance_score":1e-2}],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'cohere' },
        body: '{"id":"r1","object":"list","model":"embed-english-v3.0","results":[{"index":1,"relevance_score":0.990,"document":{"title":"B","text":"b"}},{"index":0,"relevance_score":1e-2,"document":{"text":"a"}}],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}},"usage":{"prompt_tokens":4,"total_tokens":4}}',
      },
    },
    {
      name: '10,001 documents take two calls, and the best results of both are returned',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: numbered(10_001), top_n: 2 },
      wire: [
        {
          path: '/v2/rerank',
          body: { model, query: 'q', documents: numbered(10_000), top_n: 2 },
          reply: {
            body: {
              results: [
                { index: 7, relevance_score: 0.75 },
                { index: 9_999, relevance_score: 0.25 },
              ],
              meta: { billed_units: { search_units: 100 } },
            },
          },
        },
        {
          path: '/v2/rerank',
          body: { model, query: 'q', documents: numbered(1, 10_000), top_n: 1 },
          reply: {
            body: { results: [{ index: 0, relevance_score: 0.5 }], meta: { billed_units: { search_units: 1 } } },
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': null, 'x-postern-calls': '2' },
        body: {
          results: [
            { index: 7, relevance_score: 0.75 },
            { index: 10_000, relevance_score: 0.5 },
          ],
          meta: { billed_units: { search_units: 101 } },
        },
      },
    },
    {
      name: 'the v1 API gets document objects and rank_fields unchanged',
      route: '/v1/rerank',
      ask: '{"model":"m","query":"q","documents":[{"title":"a"}],"rank_fields":["title"],"return_documents":true}',
      upstream: asV1,
      wire: [
        {
          path: '/v1/rerank',
          body: '{"model":"embed-english-v3.0","query":"q","documents":[{"title":"a"}],"rank_fields":["title"],"return_documents":true}',
          reply: { body: '{"results":[{"index":0,"relevance_score":0.50,"document":{"title":"a"}}]}' },
        },
      ],
      answer: { headers: { 'x-postern-translated': null } },
    },
    {
      name: "the v1 API gets an object query as text, and Cohere's billed units are in the answer",
      route: '/v1/rerank',
      ask: { model: 'm', query: { text: 'q' }, documents: [{ title: 'a' }, 'b'], rank_fields: ['title'], top_n: 1 },
      upstream: asV1,
      wire: [
        {
          path: '/v1/rerank',
          body: {
            rank_fields: ['title'],
            model,
            query: 'q',
            documents: [{ title: 'a' }, 'b'],
            top_n: 1,
            return_documents: false,
          },
          reply: {
            body: {
              results: [{ index: 0, relevance_score: 0.5 }],
              meta: { api_version: { version: '1' }, billed_units: { search_units: 1 } },
            },
          },
        },
      ],
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model,
          results: [{ index: 0, relevance_score: 0.5 }],
          meta: { api_version: { version: '1' }, billed_units: { search_units: 1 } },
          usage: { prompt_tokens: 4, total_tokens: 4 },
        },
      },
    },
    {
      name: "Cohere's errors (message and ID) are returned in OpenAI's shape",
      route: '/v1/embeddings',
      ask: { model: 'm', input: 'a' },
      wire: [
        {
          path: '/v2/embed',
          body: { input_type: 'search_document', model, texts: ['a'], embedding_types: ['float'] },
          reply: { status: 402, body: { message: 'the limit of your bill is reached', id: 'x-1' } },
        },
      ],
      answer: {
        status: 402,
        headers: { 'x-postern-translated': 'cohere' },
        body: {
          error: {
            message: 'the limit of your bill is reached',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_denied',
            upstream: { message: 'the limit of your bill is reached', id: 'x-1' },
          },
        },
      },
    },
    {
      name: "Cohere's non-standard status 498 becomes 400",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: '/v2/rerank',
          body: { model, query: 'q', documents: ['a'] },
          reply: { status: 498, body: { message: 'a token that is not allowed' } },
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'a token that is not allowed',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { message: 'a token that is not allowed' },
          },
        },
      },
    },
  ],
});
