import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ask, digest, toBody } from '../../../test/support/local-models.ts';
import { rerankByBm25 } from './bm25.ts';

interface Reranked {
  readonly id: string;
  readonly model: string;
  readonly results: readonly {
    readonly index: number;
    readonly relevance_score: number;
    readonly document?: unknown;
  }[];
  readonly meta: unknown;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
}

async function rerank(query: unknown, documents: unknown, more: object = {}): Promise<Reranked> {
  const fields = { model: 'local/bm25', query, documents, ...more };
  const { status, json, text } = await ask<Reranked>(rerankByBm25, fields);
  assert.equal(status, 200, text.slice(0, 200));
  return json;
}

const order = ({ results }: Reranked): number[] => results.map(({ index }) => index);

const capitals = [
  'Carson City is the capital city of the American state of Nevada.',
  'Bananas are rich in potassium.',
  'Washington, D.C. is the capital of the United States.',
  'Capital punishment has existed in the United States since before it was a country.',
];

test('rerank responses have the shape of Cohere and Jina', async () => {
  const answer = await rerank('capital of the United States', capitals);
  assert.deepEqual(Object.keys(answer), ['id', 'object', 'model', 'results', 'meta', 'usage']);
  assert.match(answer.id, /^rerank-[0-9a-f]{24}$/);
  assert.equal(answer.model, 'local/bm25');
  assert.deepEqual(Object.keys(answer.results[0] ?? {}), ['index', 'relevance_score']);
  assert.deepEqual(answer.meta, { api_version: { version: '2' }, billed_units: { search_units: 1 } });
  // 5 words of the query, 12 + 5 + 10 + 14 of the documents.
  assert.deepEqual(answer.usage, { prompt_tokens: 46, total_tokens: 46 });
});

test('ranks first the document that shares the most and rarest words with the query', async () => {
  assert.deepEqual(order(await rerank('capital of the United States', capitals)), [2, 3, 0, 1]);
});

test('gives the score of the BM25 formula', async () => {
  const { results } = await rerank('apple', ['apple', 'pear pear', 'plum plum']);
  const rarity = Math.log(1 + (3 - 1 + 0.5) / (1 + 0.5));
  const bm25 = (rarity * 1 * 2.2) / (1 + 1.2 * (1 - 0.75 + (0.75 * 1) / (5 / 3)));
  const share = bm25 / (rarity * 2.2);
  assert.equal(results[0]?.relevance_score, Math.round((0.99 * share + 0.01 * 1) * 1e7) / 1e7);
  // No common words or letters.
  assert.equal(results[2]?.relevance_score, 0);
});

test('ranks documents by similar letters when no word matches', async () => {
  const answer = await rerank('elefants', ['giraffe', 'elephant', 'an elefant', 'zebra']);
  assert.deepEqual(order(answer), [2, 1, 0, 3]);
  assert.ok(answer.results.every(({ relevance_score }) => relevance_score <= 0.01));
});

test('a matching word always scores higher than similar letters', async () => {
  const documents = ['appels appel aple applez', `apple ${'something else entirely '.repeat(40)}`];
  assert.deepEqual(order(await rerank('apple', documents)), [1, 0]);
});

test('matches words in any case, and languages without spaces by character', async () => {
  assert.equal(order(await rerank('STRASSE', ['Weg', 'die Straße']))[0], 1);
  assert.equal(order(await rerank('東京の天気', ['大阪のラーメン', '京東', '今日の東京は晴れ']))[0], 2);
});

test('keeps equal documents in their order', async () => {
  assert.deepEqual(order(await rerank('a b', ['x', 'a b', 'x', 'a b', 'x'])), [1, 3, 0, 2, 4]);
});

test('returns top_n results, or all if top_n is absent or larger', async () => {
  assert.equal((await rerank('capital', capitals, { top_n: 2 })).results.length, 2);
  for (const top_n of [null, 4, 1_000_000]) {
    assert.equal((await rerank('capital', capitals, { top_n })).results.length, 4);
  }
});

test('returns documents on request: texts as {text}, objects unchanged', async () => {
  const documents = ['plain pear', { text: 'apple pie', page: 7 }];
  const { results } = await rerank('apple', documents, { return_documents: true });
  assert.deepEqual(
    results.map(({ document }) => document),
    [{ text: 'apple pie', page: 7 }, { text: 'plain pear' }],
  );
  const without = await rerank('apple', documents, { return_documents: false });
  assert.equal(without.results[0]?.document, undefined);
});

test('reads a query that is an object with a text field', async () => {
  assert.deepEqual(
    (await rerank({ text: 'united states' }, capitals)).results,
    (await rerank('united states', capitals)).results,
  );
});

test('returns no results for an empty list of documents', async () => {
  assert.deepEqual((await rerank('anything', [])).results, []);
});

test('scores are from 0 to below 1, best first, each document once, for any text', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '東', '🎉', '\ud800', '!'), maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(text, fc.array(text, { maxLength: 8 }), async (query, documents) => {
      const { results } = await rerank(query, documents);
      assert.deepEqual(results.map(({ index }) => index).sort(), documents.map((_, index) => index).sort());
      for (const [at, { index, relevance_score: score }] of results.entries()) {
        assert.ok(score >= 0 && score < 1, String(score));
        const before = results[at - 1];
        if (before === undefined) continue;
        assert.ok(before.relevance_score > score || (before.relevance_score === score && before.index < index));
      }
    }),
  );
});

test('gives identical bytes for identical requests, on every machine', async () => {
  const fields = {
    model: 'local/bm25',
    query: 'capital of the United States',
    documents: capitals,
    return_documents: true,
  };
  const { text } = await ask<Reranked>(rerankByBm25, fields);
  assert.equal(digest(text), '51b63ecd42c9c984');
});

test('refuses invalid input and names the field', async () => {
  const query = 'a';
  const rows: [fields: object, param: string, message: RegExp][] = [
    [{ documents: ['a'] }, 'query', /missing/],
    [{ query: {}, documents: ['a'] }, 'query', /must be a text/],
    [{ query }, 'documents', /missing; send a list of texts/],
    [{ query, documents: ['a', 'b', 'c', { title: 'd' }] }, 'documents[3]', /not an object/],
    [{ query, documents: ['a', 5] }, 'documents[1]', /not a number/],
    [{ query, documents: ['a'], top_n: 0 }, 'top_n', /at least 1, not 0/],
    [{ query, documents: ['a'], top_n: 1.5 }, 'top_n', /whole number/],
    [{ query, documents: ['a'], top_n: '2' }, 'top_n', /not a text/],
    [{ query, documents: ['a'], return_documents: 'yes' }, 'return_documents', /true or false/],
    [{ query, documents: Array.from({ length: 10_001 }, () => '') }, 'documents', /at most 10000/],
  ];
  for (const [fields, param, message] of rows) {
    const { status, json } = await ask(rerankByBm25, fields);
    assert.equal(status, 400);
    assert.equal(json.error.type, 'invalid_request_error');
    assert.equal(json.error.param, param);
    assert.match(json.error.message, message);
  }
});

test('takes 10,000 documents, and texts of any length', async () => {
  const documents = Array.from({ length: 10_000 }, (_, at) => `document number ${at}`);
  assert.equal(order(await rerank('number 7777', documents))[0], 7777);
  const long = await rerank('needle', ['x'.repeat(1_000_000), `${'hay '.repeat(25_000)} needle`, '']);
  assert.equal(order(long)[0], 1);
});

test('uses the first 512 distinct words of a query', async () => {
  const query = Array.from({ length: 600 }, (_, at) => `w${at}`).join(' ');
  const [best, other] = (await rerank(query, ['w512', 'w511'])).results;
  assert.equal(best?.index, 1);
  // Only a trace of letter similarity is left for the word that the query lacks.
  assert.ok((other?.relevance_score ?? 1) < 0.01 / 512);
});

test('stops when the client disconnects', async () => {
  const leaving = new AbortController();
  const body = toBody({ query: 'words', documents: ['some words '.repeat(500_000)] });
  const answer = rerankByBm25(body, leaving.signal);
  setImmediate(() => leaving.abort());
  await assert.rejects(async () => answer, { name: 'AbortError' });
});
