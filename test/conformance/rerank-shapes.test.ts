/** Clients of reranking that were written for another service: it is said which, and they ask and read as they do there. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ErrorCode } from '../../src/core/errors.ts';
import { assertError } from '../support/clients/error-answer.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { startSeveral } from '../support/gateways/several.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { ranks } from '../support/upstreams/list-service.ts';

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

test('a TEI client sends texts and gets a list of scores', async (t) => {
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

test('texts may replace documents, and may be empty', async (t) => {
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

test('texts is accepted in place of documents for TEI clients only, with the same checks', async (t) => {
  const pair = await open(t);
  const besides = { tei: 'message', jina: 'detail' } as const;
  const refused: readonly (readonly [
    shape: keyof typeof besides | undefined,
    fields: string,
    code: ErrorCode,
    param: string,
  ])[] = [
    [undefined, '"texts":["a",7],"texts":[]', 'duplicate_parameter', 'texts'],
    [undefined, '"texts":null', 'missing_required_parameter', 'documents'],
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
    const beside = shape === undefined ? {} : { beside: besides[shape] };
    assertError(await rerank(pair, `{"model":"m","query":"q",${fields}}`, shape), code, {
      param,
      of: fields,
      ...beside,
    });
  }
  const mixed = await rerank(pair, '{"model":"tei","query":"q","texts":["a",7]}', 'tei');
  assert.equal(mixed.status, 400);
  assert.match(mixed.body.toString(), /"param":"texts","code":"unsupported_parameter"/);
  const hinted = await rerank(pair, '{"model":"m","query":"q","texts":["a"]}', 'jina');
  assert.match(hinted.body.toString(), /x-postern-shape: tei/);
  assertError(
    await rerank(pair, '{"model":"m","texts":["a"]}', 'tei', '/v1/embeddings'),
    'missing_required_parameter',
    { param: 'input' },
  );
  assert.equal(pair.upstream.requests.length, 0);
});

test('a client that sends texts without documents is a TEI client, unless configured otherwise', async (t) => {
  const pair = await open(t);
  for (const path of ['/rerank', '/v1/rerank']) {
    const answer = await rerank(pair, '{"model":"m","query":"q","texts":["a"],"return_text":true}', undefined, path);
    assert.deepEqual(await sent(pair, answer), { model: 'm', query: 'q', documents: ['a'] });
    assert.equal(answer.body.toString(), '[{"index":0,"score":0.5,"text":"a"}]');
  }
  assertError(await rerank(pair, '{"model":"m","query":"q","texts":[7]}'), 'invalid_type', {
    param: 'texts',
    beside: 'message',
  });
});

test('texts beside documents pass like any unknown field', async (t) => {
  const pair = await open(t);
  const body = '{"model":"m","query":"q","documents":["a"],"texts":7}';
  await sent(pair, await rerank(pair, body));
  assert.equal(pair.upstream.requests.at(-1)?.body.toString(), body);
});

test('a Voyage client sends top_k and gets data', async (t) => {
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
    id: `rerank-${answer.header('x-request-id')}`,
    object: 'list',
    model: 'm',
    data: [{ index: 0, relevance_score: 0.5, document: 'a' }],
    results: [{ index: 0, relevance_score: 0.5, document: { text: 'a' } }],
    meta: { api_version: { version: '2' }, billed_units: {} },
    usage: { prompt_tokens: 3, total_tokens: 3 },
  });
});

test('a Voyage client gets data of a list that is split, cached or joined too', async (t) => {
  const settings = [{}, { cache: { ttl: '1h' } }, { coalesce: { window: '1ms', max_items: 8 } }];
  for (const model of settings) {
    const { rig } = await startSeveral(t, [ranks], {
      model: { operations: ['rerank'], ...model },
      upstream: { family: 'cohere' },
      target: [{ max_items: 2 }],
    });
    const plain = { model: 'm', query: 'q', documents: ['a', 'bbb', 'cc'] };
    // Cached in the upstream's own shape.
    assert.equal((await rig.post('/v1/rerank', plain)).status, 200);
    const texts = JSON.parse((await rig.post('/v1/rerank', { ...plain, top_k: 1 })).body.toString());
    assert.deepEqual(texts.data, [{ index: 1, relevance_score: 0.03 }]);
    const documents = ['a', { text: 'bbb', n: 1 }, 'cc'];
    const body = { model: 'm', query: 'q', documents, top_k: 2, return_documents: true };
    for (const path of ['/voyage/v1/rerank', '/v1/rerank', '/v1/rerank']) {
      const answer = await rig.post(path, body);
      assert.equal(answer.status, 200, answer.body.toString());
      const { data, results } = JSON.parse(answer.body.toString());
      assert.deepEqual(data, [
        { index: 1, relevance_score: 0.03, document: 'bbb' },
        { index: 2, relevance_score: 0.02, document: 'cc' },
      ]);
      assert.deepEqual(results, [
        { index: 1, relevance_score: 0.03, document: { text: 'bbb', n: 1 } },
        { index: 2, relevance_score: 0.02, document: { text: 'cc' } },
      ]);
    }
    const without = await rig.post('/v1/rerank', { ...body, top_k: undefined, top_n: 2 });
    assert.equal(JSON.parse(without.body.toString()).data, undefined, without.body.toString());
  }
});

test('an unknown shape is refused before the body is read, on this route only', async (t) => {
  const pair = await open(t);
  for (const shape of ['square', 'tea', 'tei, tei']) {
    assertError(await rerank(pair, '{"model":"nobody"}', shape), 'unsupported_parameter', { param: 'x-postern-shape' });
  }
  assertError(await rerank(pair, '{"model":"nobody"}', 'square', '/v1/moderations'), 'missing_required_parameter', {
    param: 'input',
  });
});

test('a built-in model answers like any other, and lists dropped fields', async (t) => {
  const pair = await open(t);
  const ask = (more: string) => rerank(pair, `{"model":"local/bm25","query":"q","documents":["p","q"]${more}}`);
  const members = ['id', 'object', 'model', 'results', 'meta', 'usage'];
  for (const [more, ignored, added] of [
    ['', undefined, []],
    [',"return_documents":"true","truncate":true,"priority":1,"user":null', 'truncate, priority', []],
    [',"max_tokens_per_doc":7,"drop_params":true', 'max_tokens_per_doc, drop_params', []],
    [',"top_k":1', undefined, ['data']],
    [',"top_k":1,"top_n":1,"unheard_of":1', 'top_k, unheard_of', []],
  ] as const) {
    const answer = await ask(more);
    assert.equal(answer.status, 200, answer.body.toString());
    const body: unknown = answer.json();
    assert.ok(typeof body === 'object' && body !== null);
    assert.deepEqual(Object.keys(body).sort(), [...members, ...added].sort(), more);
    assert.equal(answer.header('x-postern-ignored'), ignored, more);
    assert.equal('data' in body && Array.isArray(body.data) ? body.data.length : 1, 1);
  }
});

const voyageKey = 'voyage-key-with-enough-characters';

/** Four families that can serve any shape, and a key and models that set one. */
async function openShaped(t: TestContext, script: Handler): Promise<Pair> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const common = { base_url: upstream.url, api_key: 'sk-upstream-secret' };
  const families = ['openai', 'cohere', 'jina', 'voyage'];
  const model = (id: string, upstreamId: string, more: object = {}) => ({
    id,
    operations: ['rerank'],
    targets: [{ upstream: upstreamId, model: id }],
    ...more,
  });
  const rig = await startRig(t, {
    upstreams: [...families.map((family) => ({ id: family, family, ...common })), { id: 'local', family: 'local' }],
    models: [
      ...families.map((family) => model(family, family)),
      model('of-jina', 'openai', { shape: 'jina' }),
      model('of-tei', 'openai', { shape: 'tei' }),
    ],
    keys: [
      { id: 'test', secret: testKey },
      { id: 'voyage', secret: voyageKey, shape: 'voyage' },
    ],
  });
  return { upstream, rig };
}

const oneResult: Handler = (_request, reply) => reply.json(200, { results: [{ index: 0, relevance_score: 0.5 }] });

test('the response shape comes from the header, else the path, else the key, else the model', async (t) => {
  const { rig } = await openShaped(t, oneResult);
  const shapeOf = async (path: string, model: string, headers: readonly [string, string][]) => {
    const body = `{"model":"${model}","query":"q","documents":["a"]}`;
    const answer = await rig.post(path, body, { headers });
    assert.equal(answer.status, 200, answer.body.toString());
    const json = answer.json() as { data?: unknown; results?: { document?: unknown }[] };
    if (Array.isArray(json)) return 'tei';
    if (json.data !== undefined) return 'voyage';
    if (json.results?.[0]?.document !== undefined) return 'jina';
    return answer.header('x-postern-translated') === undefined ? 'none' : 'cohere';
  };
  const plainly: [string, string][] = [['Authorization', `Bearer ${testKey}`]];
  const byKey: [string, string][] = [['Authorization', `Bearer ${voyageKey}`]];
  const tei: [string, string] = ['X-Postern-Shape', 'TEI'];
  assert.equal(await shapeOf('/v1/rerank', 'openai', plainly), 'none');
  assert.equal(await shapeOf('/v1/rerank', 'of-jina', plainly), 'jina');
  assert.equal(await shapeOf('/v1/rerank', 'of-jina', byKey), 'voyage');
  assert.equal(await shapeOf('/cohere/v2/rerank', 'of-jina', byKey), 'cohere');
  assert.equal(await shapeOf('/cohere/v1/rerank/', 'openai', byKey), 'cohere');
  assert.equal(await shapeOf('/jina/v1/rerank', 'openai', byKey), 'jina');
  assert.equal(await shapeOf('/voyage/v1/rerank', 'of-jina', plainly), 'voyage');
  assert.equal(await shapeOf('/voyage/v1/rerank', 'of-jina', [...byKey, tei]), 'tei');
});

test("texts is accepted in place of documents if the model is configured with TEI's shape", async (t) => {
  const { rig } = await openShaped(t, oneResult);
  const headers: [string, string][] = [['Authorization', `Bearer ${testKey}`]];
  const ask = (model: string) => rig.post('/v1/rerank', `{"model":"${model}","query":"q","texts":["a"]}`, { headers });
  assert.equal((await ask('of-tei')).body.toString(), '[{"index":0,"score":0.5}]');
  assertError(await ask('of-jina'), 'missing_required_parameter', { param: 'documents', beside: 'detail' });
});

test("if the upstream has the client's shape, bytes pass unchanged", async (t) => {
  const odd = '{ "results" : [{"index":0,"relevance_score":5e-1,"document":"as it likes"}], "more": [1.0] }';
  const pair = await openShaped(t, (_request, reply) => reply.bytes(200, [['content-type', 'application/json']], odd));
  const ask = async (path: string, model: string, more = '') => {
    const body = `{"model": "${model}","query":"q","documents":["a"]${more}, "unheard_of":1e1}`;
    const answer = await pair.rig.post(path, body, { headers: [['Authorization', `Bearer ${testKey}`]] });
    const { body: sent } = await pair.upstream.nextRequest();
    return answer.body.toString() === odd && sent.toString() === body;
  };
  assert.equal(await ask('/voyage/v1/rerank', 'voyage', ',"top_k":1,"truncation":true,"return_documents":true'), true);
  assert.equal(await ask('/jina/v1/rerank', 'jina'), true);
  assert.equal(await ask('/cohere/v2/rerank', 'cohere', ',"max_tokens_per_doc":7'), true);
  // A request that its own clients would not send is translated.
  assert.equal(await ask('/voyage/v1/rerank', 'voyage', ',"top_n":1'), false);
  assert.equal(await ask('/v1/rerank', 'voyage'), false);
  assert.equal(await ask('/jina/v1/rerank', 'cohere'), false);
});

test("errors also have the message or detail field of the client's rerank shape", async (t) => {
  const pair = await openShaped(t, (_request, reply) =>
    reply.json(422, { error: { message: 'no such model', type: 't', param: null, code: null, more: 1 } }),
  );
  const post = (path: string, body: string, key = testKey) =>
    pair.rig.post(path, body, { headers: [['Authorization', `Bearer ${key}`]] });
  const good = (model: string) => `{"model":"${model}","query":"q","documents":["a"]}`;
  const rows: readonly (readonly [RawResponse, status: number, member: 'detail' | 'message'])[] = [
    [await post('/voyage/v1/rerank', good('openai'), 'a-key-that-nobody-knows-here'), 401, 'detail'],
    [await post('/voyage/v1/nowhere', '{}'), 404, 'detail'],
    [await post('/cohere/v1/classify', '{}'), 404, 'message'],
    [await pair.rig.get('/jina/v1/rerank'), 405, 'detail'],
    [await post('/v1/rerank', '{"model":"openai"}', voyageKey), 400, 'detail'],
    [await post('/v1/rerank', good('nobody'), voyageKey), 404, 'detail'],
    [await post('/cohere/v2/rerank', good('openai')), 422, 'message'],
    [await post('/cohere/v2/rerank', good('cohere')), 422, 'message'],
    [await post('/voyage/v1/rerank', good('voyage')), 422, 'detail'],
    [await post('/jina/v1/rerank', good('local/bm25').replace('"a"', '7')), 400, 'detail'],
  ];
  for (const [answer, status, member] of rows) {
    assert.equal(answer.status, status, answer.body.toString());
    const body = answer.json() as { error: { message: string } } & Record<string, unknown>;
    assert.equal(body[member], body.error.message);
    assert.deepEqual(Object.keys(body), ['error', member]);
    if (status === 422) assert.deepEqual(body.error.message, 'no such model');
  }
  for (const path of ['/v1/rerank', '/v2/rerank']) {
    const plain = await post(path, good('openai'));
    assert.deepEqual(Object.keys(plain.json() as object), ['error'], path);
  }
});

test("errors at /v2/rerank also have the top-level message field that Cohere's clients read", async (t) => {
  const pair = await openShaped(t, (_request, reply) => reply.json(429, { message: 'slower' }));
  const ask = async (path: string, body: string, headers?: []) => {
    const answer = await pair.rig.post(path, body, headers && { headers });
    return [answer.status, Object.keys(answer.json() as object)];
  };
  const good = '{"model":"cohere","query":"q","documents":["a"]}';
  for (const path of ['/v2/rerank', '/v1/v2/rerank', '/v2/rerank/']) {
    assert.deepEqual(await ask(path, good, []), [401, ['error', 'message']], path);
    assert.deepEqual(await ask(path, '{"model":"cohere"}'), [400, ['error', 'message']], path);
    assert.deepEqual(await ask(path, good), [429, ['error', 'message']], path);
  }
  assert.deepEqual(await ask('/v1/rerank', good), [429, ['error']]);
});
