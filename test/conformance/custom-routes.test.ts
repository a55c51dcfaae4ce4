/** Routes of the operator's own: under all rules of the gateway, and bytes otherwise. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { families } from '../../src/families/index.ts';
import { takenPaths } from '../../src/routes/index.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { loadText } from '../support/gateways/configuration.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

interface Changes {
  readonly routes?: readonly object[];
  readonly model?: object;
  readonly key?: object;
  readonly upstream?: object;
}

async function start(t: TestContext, changes: Changes = {}): Promise<{ readonly rig: Rig; readonly up: FakeUpstream }> {
  const up = await startFakeUpstream();
  t.after(() => up.close());
  return { up, rig: await startRig(t, documentOf(up.url, changes)) };
}

const documentOf = (url: string, { routes = [], model = {}, key = {}, upstream = {} }: Changes) => ({
  upstreams: [
    { id: 'up', family: 'openai', base_url: `${url}/v1`, api_key: 'sk-account-one-0123456789', ...upstream },
    { id: 'other', family: 'cohere', base_url: url, api_key: 'sk-account-two-0123456789' },
  ],
  models: [
    { id: 'parser', operations: ['own'], targets: [{ upstream: 'up', model: 'parse-real' }], ...model },
    { id: 'far', operations: ['own'], targets: [{ upstream: 'other' }] },
    { id: 'embed', operations: ['embeddings'], targets: [{ upstream: 'up' }] },
  ],
  routes,
  keys: [{ id: 'test', secret: testKey, ...key }],
});

const parse = { path: '/v1/parse', label: 'parse' };

/** Rows of one millisecond stand in any order: where there are several, the one of that route. */
async function rowOf({ store }: Rig, count = 1, route?: string) {
  for (let turn = 0; turn < 1_000; turn += 1) {
    const { rows } = await store.ledger.page({}, { limit: 100 });
    const row = route === undefined ? rows[0] : rows.find((one) => one.route === route);
    if (rows.length >= count) return row ?? assert.fail();
    await wait(10);
  }
  throw new Error('The row never came.');
}

test('bytes pass unchanged except for the model name, wherever it is', async (t) => {
  const { rig, up } = await start(t, {
    routes: [
      parse,
      { path: '/v1/labels', to: '/other/classify', model: { field: 'classifier' } },
      { path: '/v1/vendor/{model}/rank', to: '/rank/{model}' },
      { path: '/v2/fixed', model: { id: 'parser' } },
      { path: '/v2/headed', model: { header: 'X-Parser' } },
      { path: '/v2/status', method: 'GET', model: { id: 'parser' }, query: ['page', 'tag[]'] },
    ],
  });
  const answer = Buffer.from('{ "n": 1.0e3, "n": 12345678901234567890 }\n');
  up.respondWith((_, reply) =>
    reply.bytes(
      201,
      [
        ['content-type', 'application/vnd.x+json'],
        ['x-own', 'yes'],
      ],
      answer,
    ),
  );
  const headers = (more: [string, string][] = []): [string, string][] => [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', 'application/json'],
    ...more,
  ];
  for (const [path, body, to, sent, more] of [
    ['/v1/parse', '{"x":1.0, "model" : "parser","x":2}', '/v1/parse', '{"x":1.0, "model" : "parse-real","x":2}'],
    [
      '/v1/labels?a=b',
      '{"model":"parser","classifier":"parser"}',
      '/v1/other/classify',
      '{"model":"parse-real","classifier":"parse-real"}',
    ],
    ['/v1/vendor/parser/rank', '{"model":"parser"}', '/v1/rank/parse-real', '{"model":"parse-real"}'],
    ['/v2/fixed', '{"a":{"model":"whatever"}}', '/v1/v2/fixed', '{"a":{"model":"whatever"}}'],
    ['/v2/headed', '{}', '/v1/v2/headed', '{}', [['x-parser', 'parser']]],
  ] as const) {
    const got = await rig.post(path, body, { headers: headers(more?.map(([name, value]) => [name, value])) });
    assert.equal(got.status, 201, got.body.toString());
    assert.deepEqual(got.body, answer);
    const request = up.requests.at(-1);
    assert.deepEqual([request?.path, request?.body.toString()], [to, sent]);
    assert.equal(request?.header('x-parser'), more === undefined ? undefined : 'parse-real');
    assert.equal(request?.header('authorization'), 'Bearer sk-account-one-0123456789');
  }
  const asked = await rig.get('/v2/status?page=2&key=secret&tag[]=a%20b&tag[]=c', { headers: headers() });
  assert.equal(asked.status, 201);
  assert.equal(up.requests.at(-1)?.method, 'GET');
  assert.equal(up.requests.at(-1)?.path, '/v1/v2/status?page=2&tag%5B%5D=a%20b&tag%5B%5D=c');
  assert.equal(up.requests.at(-1)?.header('content-type'), undefined);
  const row = await rowOf(rig, 6, '/v2/status');
  assert.deepEqual(
    [row.route, row.operation, row.label, row.model, row.upstreamModel],
    ['/v2/status', 'own', 'own', 'parser', 'parse-real'],
  );
});

test('a form passes byte for byte, with the model renamed in its part', async (t) => {
  const { rig, up } = await start(t, {
    routes: [
      { ...parse, form: true },
      { path: '/v1/scan', model: { id: 'parser' }, form: true },
    ],
  });
  const form = (model: string): Buffer =>
    Buffer.from(
      `--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF\0\xff\r\n${model === '' ? '' : `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`}--b--\r\n`,
      'latin1',
    );
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', 'multipart/form-data; boundary=b'],
  ];
  assert.equal((await rig.post('/v1/parse', form('parser'), { headers })).status, 200);
  assert.deepEqual(up.requests.at(-1)?.body, form('parse-real'));
  assert.equal((await rig.post('/v1/scan', form(''), { headers })).status, 200);
  assert.deepEqual(up.requests.at(-1)?.body, form(''));
  for (const name of ['fileId', 'File_id', 'a[File_Id]', 'a[fileIds][0]']) {
    const named = form('parser').toString('latin1').replace('name="file"; filename="a.pdf"', `name="${name}"`);
    const refused = await rig.post('/v1/parse', Buffer.from(named, 'latin1'), { headers });
    assertError(refused, 'object_not_found', { param: /s/i.test(name) ? 'file_ids' : 'file_id', of: name });
  }
  assertError(await rig.post('/v1/parse', form(''), { headers }), 'missing_required_parameter', { param: 'model' });
  assert.equal(up.requests.length, 2);
});

test('key, model, operation, body, method and stored objects are checked as on other routes', async (t) => {
  const { rig, up } = await start(t, {
    routes: [parse, { path: '/v1/only', upstreams: ['up'] }, { path: '/v2/headed', model: { header: 'x-parser' } }],
    key: { models: ['parser', 'far', 'embed'] },
    model: { aliases: ['p'] },
  });
  for (const [path, body, code, param] of [
    ['/v1/parse', '{}', 'missing_required_parameter', 'model'],
    ['/v1/parse', '{"model":7}', 'invalid_type', 'model'],
    ['/v1/parse', '{"model":"parser","Model":"far"}', 'duplicate_parameter', 'model'],
    ['/v1/parse', '{"model":"parser"', 'invalid_json', null],
    ['/v1/parse', '{"model":"never"}', 'model_not_found', 'model'],
    ['/v1/parse', '{"model":"embed"}', 'operation_not_supported', 'model'],
    ['/v1/only', '{"model":"far"}', 'operation_not_supported', 'model'],
    ['/v1/parse', '{"model":"parser","a":[{"file_id":"file-1"}]}', 'object_not_found', 'file_id'],
    ['/v1/parse', '{"model":"parser","a":[{"file\\u005fid":"file-1"}]}', 'object_not_found', 'file_id'],
    ['/v1/parse', '{"model":"parser","a":[{"fileId":"file-1"}]}', 'object_not_found', 'file_id'],
    ['/v1/parse', '{"model":"parser","File_id":"file-1"}', 'object_not_found', 'file_id'],
    ['/v1/parse', '{"model":"parser","a":{"FILE\\u005fIDS" : ["file-1"]}}', 'object_not_found', 'file_ids'],
    ['/v1/parse', '{"model":"parser","models":["embed"]}', 'unsupported_parameter', 'models'],
    ['/v2/headed', '{}', 'missing_required_parameter', 'x-parser'],
  ] as const) {
    assertError(await rig.post(path, body), code, { param, of: body });
  }
  assertError(await rig.get('/v1/parse'), 'method_not_allowed');
  assertError(await rig.post('/v1/unparsed', '{}'), 'route_not_found');
  assertError(await rig.post('/v1/parse', '{"model":"parser"}', { headers: [] }), 'missing_api_key');
  assert.equal(up.requests.length, 0);
  assert.equal((await rig.post('/v1/parse', '{"model":"p"}')).status, 200);
  const keyed = await start(t, { routes: [parse], key: { operations: ['embeddings'] } });
  assertError(await keyed.rig.post('/v1/parse', '{"model":"parser"}'), 'route_not_allowed');
  const forbidden = await start(t, { routes: [parse], key: { models: ['far'] } });
  assertError(await forbidden.rig.post('/v1/parse', '{"model":"parser"}'), 'model_not_found', { param: 'model' });
});

test('a call costs its price, and the reported usage if configured', async (t) => {
  const { rig, up } = await start(t, {
    routes: [
      {
        ...parse,
        usage: { input: 'meta.tokens.in', output: 'meta.tokens.out', units: 'meta.pages' },
        most: { output: 50, units: 10 },
      },
      { path: '/v1/plain' },
    ],
    model: { price: { request: '0.01', search_unit: '0.002', input: 1, output: 2 } },
    key: { budgets: [{ every: 'day', amount: '0.05' }] },
  });
  const meta = '{"pages":[1,2],"meta":{"pages":"9","tokens":{"in":1e2,"out":10},"pages":3.0}}';
  up.respondWith((_, reply) => reply.bytes(200, [['content-type', 'application/json']], Buffer.from(meta)));
  assert.equal((await rig.post('/v1/parse', '{"model":"parser"}')).status, 200);
  assert.equal(up.requests[0]?.header('accept-encoding'), 'identity');
  const row = await rowOf(rig);
  assert.deepEqual(
    [row.promptTokens, row.completionTokens, row.searchUnits, row.costNanos, row.isEstimated, row.label],
    [100, 10, 3, 10_000_000 + 3 * 2_000_000 + 100_000 + 20_000, false, 'parse'],
  );
  // What one answer can cost at most is above what is left.
  const refused = await rig.post('/v1/parse', '{"model":"parser"}');
  assert.equal(refused.status, 200);
  assertError(await rig.post('/v1/parse', '{"model":"parser"}'), 'budget_exceeded');
  assertError(await rig.post('/v1/plain', '{"model":"parser"}'), 'unsupported_parameter', { param: '/v1/plain' });
});

test('with a price per request, a call is billed exactly, and an upstream error is free and passes unchanged', async (t) => {
  const { rig, up } = await start(t, {
    routes: [parse],
    model: { price: { request: '0.01' } },
    key: { budgets: [{ every: 'day', amount: '0.015' }] },
  });
  up.respondWith([
    (_, reply) => reply.json(422, { detail: 'no such page' }),
    (_, reply) => reply.json(200, { ok: true }),
  ]);
  const failed = await rig.post('/v1/parse', '{"model":"parser"}');
  assert.deepEqual([failed.status, failed.body.toString()], [422, '{"detail":"no such page"}']);
  assert.equal((await rig.post('/v1/parse', '{"model":"parser"}')).status, 200);
  assertError(await rig.post('/v1/parse', '{"model":"parser"}'), 'budget_exceeded');
  const { rows } = await (async () => {
    await rowOf(rig, 3);
    return rig.store.ledger.page({}, { limit: 10 });
  })();
  assert.deepEqual(rows.map(({ costNanos, isEstimated }) => [costNanos, isEstimated]).toSorted(), [
    [0, false],
    [0, false],
    [10_000_000, false],
  ]);
});

test('a request is sent once, unless configured otherwise', async (t) => {
  for (const [retry, calls] of [
    ['safe', 1],
    ['always', 2],
  ] as const) {
    const model = {
      retry,
      targets: [
        { upstream: 'up', model: 'a' },
        { upstream: 'up', model: 'b', priority: 1 },
      ],
    };
    const { rig, up } = await start(t, { routes: [parse], model });
    up.respondWith((_, reply) => reply.json(500, {}));
    assert.equal((await rig.post('/v1/parse', '{"model":"parser"}')).status, 500);
    assert.equal(up.requests.length, calls, retry);
  }
});

test("the key's limits apply, and the timeout is the route's", async (t) => {
  const { rig, up } = await start(t, {
    routes: [{ ...parse, timeouts: { first_byte: '100ms' } }],
    key: { limits: { requests_per_minute: 1 } },
  });
  up.respondWith(() => undefined);
  assertError(await rig.post('/v1/parse', '{"model":"parser"}'), 'upstream_timeout');
  assertError(await rig.post('/v1/parse', '{"model":"parser"}'), 'rate_limit_exceeded');
});

test('a path already in use is a fault, and so is one no request can match', async (t) => {
  const { rig } = await start(t);
  for (const [route, why] of [
    [{ path: '/v1/chat/completions' }, /routes\[0\]\.path.*may mean the same as \/v1\/chat\/completions/],
    [{ path: '/v1/models/parse' }, /may mean the same as \/v1\/models\/\{model\}/],
    [{ path: '/v1/batches/x' }, /may mean the same as \/v1\/batches\/\{id\}/],
    [{ path: '/v1/{model}/completions' }, /may mean the same/],
    [{ path: '/healthz' }, /may mean the same/],
    [{ path: '/v1/realtime' }, /may mean the same/],
    [{ path: '/openai/v1/batches' }, /may mean the same/],
    [{ path: 'v1/parse' }, /a path such as \/v1\/parse/],
    [{ path: '/v1/../parse' }, /a path such as/],
    [{ path: '/v1/parse?x=1' }, /a path such as/],
    [{ path: '/v1/a', to: '/a/../../b' }, /a path such as/],
    [{ path: '/v1/{model}/{model}/x' }, /holds \{model\} twice/],
    [{ path: '/v1/{model}/x', model: { field: 'model' } }, /stands in the path already/],
    [{ path: '/v1/a', method: 'GET' }, /a GET has no body/],
    [{ path: '/v1/a', method: 'PUT' }, /one of POST, GET/],
    [{ path: '/v1/a', model: { field: 'x', id: 'parser' } }, /one of field, header and id/],
    [{ path: '/v1/a', model: { header: 'Authorization' } }, /no model can stand in this header/],
    [{ path: '/v1/a', model: { id: 'never' } }, /a model that there is not/],
    [{ path: '/v1/a', model: { id: 'embed' } }, /does not serve own/],
    [{ path: '/v1/a', label: 'openai' }, /is what a route of Postern is called/],
    [{ path: '/v1/a', upstreams: ['upp'] }, /no upstream is called .*upp/],
    [{ path: '/v1/a', usage: {} }, /at least one of input, output and units/],
  ] as const) {
    await assert.rejects(
      rig.compile(documentOf('http://127.0.0.1:9', { routes: [route] })),
      why,
      JSON.stringify(route),
    );
  }
  const twice = documentOf('http://127.0.0.1:9', {
    routes: [parse, { ...parse, method: 'GET', model: { id: 'parser' } }],
  });
  await assert.rejects(rig.compile(twice), /may mean the same as routes\[0\]/);
});

test('a reload adds and removes routes', async (t) => {
  const { rig, up } = await start(t, { routes: [parse] });
  assert.deepEqual(rig.app.swap(await rig.compile(documentOf(up.url, { routes: [{ path: '/v1/newer' }] }))), []);
  assertError(await rig.post('/v1/parse', '{"model":"parser"}'), 'route_not_found');
  assert.equal((await rig.post('/v1/newer', '{"model":"parser"}')).status, 200);
});

test("a custom route overrides a client API's one-segment path, which stays under its prefix", async (t) => {
  const { rig, up } = await start(t, { routes: [{ path: '/classify', model: { id: 'parser' } }] });
  up.respondWith((_request, reply) => reply.json(200, { served: true }));
  const body = { input: 'x' };
  const { status, body: bytes } = await rig.post('/classify', body);
  assert.deepEqual([status, bytes.toString()], [200, '{"served":true}']);
  assert.equal(up.requests[0]?.path, '/v1/classify');
  assertError(await rig.post('/vllm/classify', { model: 'parser', ...body }), 'operation_not_supported', {
    param: 'model',
  });
  assert.equal(up.requests.length, 1);
});

test("check warns of a custom route at a client API's one-segment path, and refuses other paths in use", async (t) => {
  const load = (path: string) => {
    const document = documentOf('http://127.0.0.1:9', { routes: [{ path, model: { id: 'parser' } }] });
    return loadText(t, stringify(document), { env: {}, families, loadTakenPaths: async () => takenPaths });
  };
  for (const path of ['/classify', '/embed', '/predict', '/similarity', '/info']) {
    const loaded = await load(path);
    assert.ok(loaded.ok, path);
    const notes = loaded.warnings.filter((warning) => warning.includes('goes before'));
    assert.equal(notes.length, 1, path);
    assert.match(
      notes[0] ?? '',
      new RegExp(`^routes\\[0\\]\\.path goes before what Postern has at ${path}, which stays at /`),
    );
  }
  const taken = ['/rerank', '/embeddings', '/v1/score', '/tei/embed', '/v1/rerank', '/models', '/healthz', '/files'];
  for (const path of taken) {
    const loaded = await load(path);
    assert.deepEqual(loaded.ok ? [] : loaded.faults.map((fault) => fault.path), ['routes[0].path'], path);
  }
});
