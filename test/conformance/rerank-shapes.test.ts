/** Clients of reranking that were written for another service: they say which (`x-postern-shape`), and ask and read as they do there. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ErrorCode } from '../../src/core/errors.ts';
import { assertError } from '../support/error-answer.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/fake-upstream.ts';
import type { RawResponse } from '../support/raw-client.ts';
import { type Rig, startRig, testKey } from '../support/rig.ts';

interface Pair {
  readonly upstream: FakeUpstream;
  readonly rig: Rig;
}

async function open(t: TestContext): Promise<Pair> {
  const upstream = await startFakeUpstream((request, reply) =>
    request.path === '/rerank'
      ? reply.json(200, [{ index: 0, score: 0.5 }])
      : reply.json(200, { results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 3 } }),
  );
  t.after(() => upstream.close());
  const common = { base_url: `${upstream.url}/v1`, api_key: 'sk-upstream-secret' };
  const rig = await startRig(t, {
    upstreams: [
      { id: 'anyone', family: 'openai', ...common },
      { id: 'tei', family: 'tei', ...common },
      { id: 'local', family: 'local' },
    ],
    models: [
      { id: 'm', operations: ['rerank'], targets: [{ upstream: 'anyone' }] },
      { id: 'tei', operations: ['rerank'], targets: [{ upstream: 'tei' }] },
    ],
  });
  return { upstream, rig };
}

function rerank({ rig }: Pair, body: string, shape?: string, path = '/v1/rerank'): Promise<RawResponse> {
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', 'application/json'],
  ];
  return rig.post(path, body, { headers: shape === undefined ? headers : [...headers, ['X-Postern-Shape', shape]] });
}

async function sent(pair: Pair, answer: RawResponse): Promise<unknown> {
  assert.equal(answer.status, 200, answer.body.toString());
  return JSON.parse((await pair.upstream.nextRequest()).body.toString());
}

test('a client of TEI asks with texts, and reads a list of scores', async (t) => {
  const pair = await open(t);
  const answer = await rerank(
    pair,
    '{"model":"m","query":"q","texts":["a"],"raw_scores":false,"return_text":true}',
    'tei',
    '/rerank',
  );
  assert.deepEqual(await sent(pair, answer), { model: 'm', query: 'q', documents: ['a'] });
  assert.equal(answer.body.toString(), '[{"index":0,"score":0.5,"text":"a"}]');

  const throughTei = await rerank(pair, '{"model":"tei","query":"q","texts":["a"],"truncate":true}', 'tei');
  assert.deepEqual(await sent(pair, throughTei), { truncate: true, query: 'q', texts: ['a'] });
  assert.equal(throughTei.body.toString(), '[{"index":0,"score":0.5}]');

  const made = await rerank(pair, '{"model":"local/bm25","query":"q","texts":["p","q"]}', 'tei');
  assert.deepEqual(
    JSON.parse(made.body.toString()).map(({ index }: { readonly index: number }) => index),
    [1, 0],
  );
});

test('texts stand in where there are no documents, and may be none', async (t) => {
  const pair = await open(t);
  const asked: readonly (readonly [fields: string, documents: readonly string[]])[] = [
    ['"documents":null,"texts":["a"]', ['a']],
    ['"documents":["a"],"texts":null', ['a']],
    ['"documents":["a"],"texts":["b"]', ['a']],
    ['"texts":[]', []],
  ];
  for (const [fields, documents] of asked) {
    const answer = await rerank(pair, `{"model":"m","query":"q",${fields}}`, 'tei');
    const request: unknown = JSON.parse((await pair.upstream.nextRequest()).body.toString());
    assert.deepEqual(request, { model: 'm', query: 'q', documents }, fields);
    // The upstream ranks a document that is not there.
    assert.equal(answer.status, documents.length === 0 ? 502 : 200, fields);
  }
});

test('texts stand in for documents for clients of TEI alone, and are judged as documents are', async (t) => {
  const pair = await open(t);
  const refused: readonly (readonly [shape: string | undefined, fields: string, code: ErrorCode, param: string])[] = [
    [undefined, '"texts":["a"]', 'missing_required_parameter', 'documents'],
    ['jina', '"texts":["a"]', 'missing_required_parameter', 'documents'],
    ['tei', '"texts":null', 'missing_required_parameter', 'documents'],
    ['tei', '"Texts":["a"]', 'missing_required_parameter', 'documents'],
    ['tei', '"texts":"a"', 'invalid_type', 'texts'],
    ['tei', '"texts":{"a":1}', 'invalid_type', 'texts'],
    ['tei', '"texts":[{"text":"a"}]', 'invalid_type', 'texts'],
    ['tei', '"texts":[1]', 'invalid_type', 'texts'],
    ['tei', '"documents":7,"texts":["a"]', 'invalid_type', 'documents'],
    ['tei', '"texts":["a"],"texts":["b"]', 'duplicate_parameter', 'texts'],
    ['tei', '"texts":["a"],"TEXTS":["b"]', 'duplicate_parameter', 'texts'],
    [undefined, '"documents":["a"],"texts":1,"te\\u0078ts":2', 'duplicate_parameter', 'texts'],
  ];
  for (const [shape, fields, code, param] of refused) {
    assertError(await rerank(pair, `{"model":"m","query":"q",${fields}}`, shape), code, { param, of: fields });
  }
  const mixed = await rerank(pair, '{"model":"tei","query":"q","texts":["a",7]}', 'tei');
  assert.equal(mixed.status, 400);
  assert.match(mixed.body.toString(), /"param":"texts","code":"unsupported_parameter"/);
  const hinted = await rerank(pair, '{"model":"m","query":"q","texts":["a"]}');
  assert.match(hinted.body.toString(), /x-postern-shape: tei/);
  assertError(
    await rerank(pair, '{"model":"m","texts":["a"]}', 'tei', '/v1/embeddings'),
    'missing_required_parameter',
    { param: 'input' },
  );
  assert.equal(pair.upstream.requests.length, 0);
});

test('texts beside documents pass as they come, like any field that is not known', async (t) => {
  const pair = await open(t);
  const body = '{"model":"m","query":"q","documents":["a"],"texts":7}';
  await sent(pair, await rerank(pair, body));
  assert.equal(pair.upstream.requests.at(-1)?.body.toString(), body);
});

test('a client of Voyage asks with top_k, and reads data', async (t) => {
  const pair = await open(t);
  const body = '{"model":"m","query":"q","documents":["a","b"],"top_k":1,"truncation":true,"return_documents":true}';
  const answer = await rerank(pair, body, 'voyage');
  assert.deepEqual(await sent(pair, answer), {
    truncation: true,
    model: 'm',
    query: 'q',
    documents: ['a', 'b'],
    top_n: 1,
  });
  assert.deepEqual(JSON.parse(answer.body.toString()), {
    object: 'list',
    data: [{ index: 0, relevance_score: 0.5, document: 'a' }],
    model: 'm',
    usage: { total_tokens: 3 },
  });
});

test('a shape that is not known is refused before the body is judged, on this route alone', async (t) => {
  const pair = await open(t);
  for (const shape of ['square', 'tea', 'tei, tei']) {
    assertError(await rerank(pair, '{"model":"nobody"}', shape), 'unsupported_parameter', { param: 'x-postern-shape' });
  }
  assertError(await rerank(pair, '{"model":"nobody"}', 'square', '/v1/moderations'), 'missing_required_parameter', {
    param: 'input',
  });
});
