/** Fixture of Pinecone, by its OpenAPI document of 2025-10, which lacks the document limit. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { ranked } from './wire.ts';

const model = 'bge-reranker-v2-m3';
const mostDocuments = 100;

const rerankBody = z.object({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.looseObject({ text: z.string().optional() })),
  top_n: z.int().optional(),
  return_documents: z.boolean().default(true),
  rank_fields: z.array(z.string()).default(['text']),
  parameters: z.looseObject({}).optional(),
});

const failure = (status: number, message: string): WireReply => ({
  status,
  body: { error: { code: 'INVALID_ARGUMENT', message }, status },
});

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `t${from + index}`);
const asObjects = (texts: readonly string[]) => texts.map((text) => ({ text }));

export default defineFixture({
  family: 'pinecone',
  model,

  service({ path, body, header }: WireCall): WireReply {
    if (path !== '/rerank') return failure(404, 'no such path');
    if (header('x-pinecone-api-version') === undefined) return failure(400, 'a version is missing');
    const parsed = rerankBody.safeParse(body);
    if (!parsed.success) return failure(400, parsed.error.message);
    const { query, documents, top_n: top, return_documents: withDocuments, rank_fields: fields } = parsed.data;
    if (documents.length > mostDocuments) return failure(400, `at most ${mostDocuments} documents`);
    const texts = documents.map((document) => fields.map((field) => String(document[field] ?? '')).join('\n'));
    const data = ranked(query, texts)
      .slice(0, top)
      .map(({ index, score }) => ({ index, score, ...(withDocuments && { document: documents[index] }) }));
    return { body: { model, data, usage: { rerank_units: 1 } } };
  },

  error: failure,

  pairs: [
    {
      name: "rerank documents are sent as objects, with Pinecone's API key and version headers",
      route: '/v1/rerank',
      ask: { model: 'm', query: { text: 'q' }, documents: ['a', { text: 'b', id: 7 }], top_n: 2 },
      wire: [
        {
          path: '/rerank',
          headers: {
            'api-key': 'sk-service-0123456789',
            authorization: null,
            'x-pinecone-api-version': '2025-10',
          },
          body: {
            model,
            query: 'q',
            documents: [{ text: 'a' }, { text: 'b', id: 7 }],
            top_n: 2,
            return_documents: false,
          },
          reply: {
            body: '{"model":"bge-reranker-v2-m3","data":[{"index":1,"score":0.4760},{"index":0,"score":6.4e-4}],"usage":{"rerank_units":1}}',
          },
        },
      ],
      answer: {
        headers: { 'x-postern-translated': 'pinecone' },
        body: '{"id":"rerank-{exchange}","object":"list","model":"bge-reranker-v2-m3","results":[{"index":1,"relevance_score":0.4760},{"index":0,"relevance_score":6.4e-4}],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}},"usage":{"prompt_tokens":4,"total_tokens":4}}',
      },
    },
    {
      name: 'the API version can be configured, and rank_fields and parameters are sent',
      route: '/v1/rerank',
      ask: {
        model: 'm',
        query: 'q',
        documents: [{ title: 'a' }],
        rank_fields: ['title'],
        parameters: { truncate: 'END' },
        return_documents: true,
        top_n: null,
      },
      upstream: { headers: { 'X-Pinecone-API-Version': '2026-01' } },
      wire: [
        {
          path: '/rerank',
          headers: { 'x-pinecone-api-version': '2026-01' },
          body: {
            rank_fields: ['title'],
            parameters: { truncate: 'END' },
            model,
            query: 'q',
            documents: [{ title: 'a' }],
            return_documents: false,
          },
          reply: { body: { model, data: [{ index: 0, score: 0.5 }], usage: { rerank_units: 1 } } },
        },
      ],
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model,
          results: [{ index: 0, relevance_score: 0.5, document: { title: 'a' } }],
          meta: { api_version: { version: '2' }, billed_units: { search_units: 1 } },
          usage: { prompt_tokens: 2, total_tokens: 2 },
        },
      },
    },
    {
      name: '101 documents take two calls, and the best results of both are returned',
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: numbered(101), top_n: 1 },
      wire: [
        { documents: numbered(100), index: 99, score: 0.25 },
        { documents: numbered(1, 100), index: 0, score: 0.75 },
      ].map(({ documents, index, score }) => ({
        path: '/rerank',
        body: { model, query: 'q', documents: asObjects(documents), top_n: 1, return_documents: false },
        reply: { body: { model, data: [{ index, score }], usage: { rerank_units: 1 } } },
      })),
      answer: {
        body: {
          id: 'rerank-{exchange}',
          object: 'list',
          model,
          results: [{ index: 100, relevance_score: 0.75 }],
          meta: { api_version: { version: '2' }, billed_units: { search_units: 2 } },
          usage: { prompt_tokens: 202, total_tokens: 202 },
        },
      },
    },
    {
      name: "Pinecone's errors are returned in OpenAI's shape",
      route: '/v1/rerank',
      ask: { model: 'm', query: 'q', documents: ['a'] },
      wire: [
        {
          path: '/rerank',
          body: { model, query: 'q', documents: [{ text: 'a' }], return_documents: false },
          reply: failure(400, 'Bad request.'),
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'Bad request.',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: { error: { code: 'INVALID_ARGUMENT', message: 'Bad request.' }, status: 400 },
          },
        },
      },
    },
  ],
});
