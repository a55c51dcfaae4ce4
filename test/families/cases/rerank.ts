/** Test cases of rerank at any upstream. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import type { Setup } from '../family-setup.ts';
import { ranked } from '../wire.ts';
import { assertRefused } from './embeddings.ts';
import { checkHints } from './hints.ts';

const result = z.object({
  index: z.int(),
  relevance_score: z.number(),
  document: z.object({ text: z.string() }).nullish(),
});
const answer = z.object({ results: z.array(result) });
const commonAnswer = z.strictObject({
  id: z.string().min(1),
  object: z.literal('list'),
  model: z.string().min(1),
  results: z.array(result.extend({ document: z.object({ text: z.string() }) })),
  meta: z.looseObject({ api_version: z.looseObject({ version: z.string() }) }),
  usage: z.strictObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
});

const documents = ['apple', 'Zürich', '東京 🚀', 'with "quotes"\nand lines', ''];

async function rerank(setup: Setup, query: unknown, docs: readonly unknown[], more: object = {}) {
  const { status, text, json } = await setup.ask('/v1/rerank', { model: 'm', query, documents: docs, ...more });
  assert.equal(status, 200, text.slice(0, 500));
  return answer.parse(json).results;
}

const indexes = (results: readonly z.output<typeof result>[]) =>
  results.map(({ index, relevance_score: score }) => ({ index, score }));
const expected = (query: string, docs: readonly string[]) =>
  ranked(query, docs).map(({ index, score }) => ({ index, score }));

export const rerankCases: Readonly<Record<string, (setup: Setup) => Promise<void>>> = {
  async 'returns all documents by descending score, with their indexes in the request'(setup) {
    assert.deepEqual(indexes(await rerank(setup, 'a query ö', documents)), expected('a query ö', documents));
  },

  async 'accepts documents that are objects with a text'(setup) {
    const objects = documents.map((text) => ({ text }));
    assert.deepEqual(indexes(await rerank(setup, 'q', objects)), expected('q', documents));
  },

  async 'returns top_n documents, and all if top_n is null or larger than the list'(setup) {
    assert.deepEqual(indexes(await rerank(setup, 'q', documents, { top_n: 2 })), expected('q', documents).slice(0, 2));
    assert.deepEqual(indexes(await rerank(setup, 'q', documents, { top_n: null })), expected('q', documents));
    assert.deepEqual(indexes(await rerank(setup, 'q', documents, { top_n: 99 })), expected('q', documents));
  },

  async "return_documents adds each document's text to its score"(setup) {
    for (const docs of [documents, documents.map((text) => ({ text }))]) {
      const results = await rerank(setup, 'q', docs, { return_documents: true });
      assert.deepEqual(
        results.map(({ document }) => document?.text),
        ranked('q', documents).map(({ text }) => text),
      );
    }
    const results = await rerank(setup, 'q', documents, { return_documents: false });
    assert.deepEqual(
      results.map(({ document }) => document ?? undefined),
      documents.map(() => undefined),
    );
  },

  async 'ranks 2,048 documents'(setup) {
    const many = Array.from({ length: 2048 }, (_, index) => `document ${index}`);
    const results = await rerank(setup, 'q', many);
    // Documents of one score may stand in any order.
    const scores = new Map(ranked('q', many).map(({ index, score }) => [index, score]));
    assert.equal(new Set(results.map(({ index }) => index)).size, 2048);
    for (const { index, relevance_score: score } of results) assert.equal(score, scores.get(index));
    assert.deepEqual(
      results.map((one) => one.relevance_score),
      [...scores.values()].sort((a, b) => b - a),
    );
  },

  async 'answers in the shape of Cohere, Jina, Voyage or TEI by the x-postern-shape header, and refuses others'(setup) {
    const body = { model: 'm', query: 'q', documents, top_n: 3, return_documents: true };
    const best = ranked('q', documents).slice(0, 3);
    const shaped = async (shape: string) => (await setup.ask('/v1/rerank', body, { 'x-postern-shape': shape })).json;
    const standard = best.map(({ index, score, text }) => ({ index, relevance_score: score, document: { text } }));
    assert.deepEqual(
      z.object({ results: z.unknown(), meta: z.object({}) }).parse(await shaped('cohere')).results,
      standard,
    );
    const usage = z.object({ total_tokens: z.int() });
    assert.deepEqual(z.object({ results: z.unknown(), usage }).parse(await shaped('jina')).results, standard);
    assert.deepEqual(
      z.object({ data: z.unknown(), usage }).parse(await shaped('voyage')).data,
      best.map(({ index, score, text }) => ({ index, relevance_score: score, document: text })),
    );
    assert.deepEqual(
      await shaped('tei'),
      best.map(({ index, score, text }) => ({ index, score, text })),
    );
    const { status, json } = await setup.ask('/v1/rerank', body, { 'x-postern-shape': 'square' });
    assert.equal(status, 400);
    assert.match(JSON.stringify(json), /x-postern-shape/);
  },

  async 'an unknown field is sent upstream, or refused with 400 that names it'(setup) {
    const body = { model: 'm', query: 'q', documents, unheard_of: true };
    const { status, json } = await setup.ask('/v1/rerank', body);
    if (status === 200) assert.match(setup.calls.at(-1)?.text ?? '', /"unheard_of":true/);
    else assertRefused(status, json, 'unheard_of');
  },

  async 'optional fields of other services are sent upstream, or dropped and listed in x-postern-ignored'(setup) {
    await checkHints(setup, '/v1/rerank', { query: 'q', documents });
  },

  async "top_k limits the number of results as top_n does, with results in Voyage's shape"(setup) {
    const { text, json, header } = await setup.ask('/v1/rerank', { model: 'm', query: 'q', documents, top_k: 1 });
    const called = setup.calls.at(-1)?.text ?? '';
    // What passes is for the upstream to judge.
    if (header('x-postern-translated') === undefined) assert.match(called, /"top_k":1/);
    else assert.equal(z.object({ data: z.array(z.unknown()) }).parse(json).data.length, 1, text);
  },

  async 'a translated answer has id, object, model, results with documents, meta and usage'(setup) {
    const { json, text, header } = await setup.ask('/v1/rerank', {
      model: 'm',
      query: 'q',
      documents,
      return_documents: 'true',
      max_chunks_per_doc: 1,
    });
    if (header('x-postern-translated') === undefined) return;
    const { results } = commonAnswer.parse(json);
    assert.equal(results.length, documents.length, text);
  },

  async 'null parameters count as absent'(setup) {
    const nothing = { max_tokens_per_doc: null, max_chunks_per_doc: null, rank_fields: null, top_k: null };
    assert.deepEqual(indexes(await rerank(setup, 'q', documents, nothing)), expected('q', documents));
  },

  async 'an empty list is sent to the upstream, and its success or client error is returned'(setup) {
    const { status, text } = await setup.ask('/v1/rerank', { model: 'm', query: 'q', documents: [] });
    assert.ok(status === 200 || (status >= 400 && status < 500), text);
    assert.equal(setup.calls.length, 1);
  },
};
