/** `GET /v1/models` and `/v1/models/{id}`, the health checks, and which paths are which. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { CohereClient } from 'cohere-ai';
import OpenAI from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import { request, send, toRequestBytes } from '../support/clients/raw-client.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const narrowKey = 'narrow-key-with-enough-characters';

async function open(t: TestContext, more: RigDocument = {}): Promise<{ rig: Rig; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const targets = [{ upstream: 'up' }];
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [
      { id: 'plain', aliases: ['nickname'], operations: ['embeddings', 'rerank'], targets },
      { id: 'BAAI/bge-m3', operations: ['embeddings'], targets },
      { id: 'hidden', aliases: ['hidden-alias'], visible: false, targets },
      { id: 'gpt-*', operations: ['completions'], targets },
      { id: 'gpt-secret', visible: false, targets },
      { id: 'dark-*', visible: false, targets },
      { id: 'ünï cödé 模型', operations: ['moderations'], targets },
      { id: 'models', operations: ['edits'], targets },
    ],
    keys: [
      { id: 'test', secret: testKey },
      { id: 'narrow', secret: narrowKey, models: ['BAAI/*', 'hidden', 'gpt-4*'] },
    ],
    ...more,
  });
  return { rig, upstream };
}

const listPaths = [
  '/v1/models',
  '/models',
  '/v1/v1/models',
  '/v1/models/',
  '/models?limit=1',
  '/v1/engines',
  '/engines/',
];

test("the list has OpenAI's shape, with all visible models except patterns", async (t) => {
  const { rig, upstream } = await open(t);
  for (const path of listPaths) {
    const answer = await rig.get(path);
    assert.equal(answer.status, 200, path);
    assert.equal(answer.header('content-type'), 'application/json');
    const list = answer.json() as { object: string; data: { created: number }[] };
    const created = list.data[0]?.created ?? 0;
    assert.ok(Number.isInteger(created) && Math.abs(created - Date.now() / 1000) < 600, `created: ${created}`);
    const rows: [id: string, operations: string[], endpoints: string[]][] = [
      ['plain', ['embeddings', 'rerank'], ['embed', 'rerank']],
      ['BAAI/bge-m3', ['embeddings'], ['embed']],
      ['ünï cödé 模型', ['moderations'], []],
      ['models', ['edits'], []],
    ];
    assert.deepEqual(list, {
      object: 'list',
      data: rows.map(([id, operations, endpoints]) => ({
        id,
        object: 'model',
        created,
        owned_by: 'postern',
        operations,
        type: 'base',
        capabilities: {
          completion_chat: false,
          completion_fim: false,
          function_calling: false,
          fine_tuning: false,
          vision: false,
          classification: false,
          moderation: operations.includes('moderations'),
        },
        ...(operations.includes('embeddings') && { space: id }),
        name: id,
        endpoints,
      })),
      models: rows.map(([name, , endpoints]) => ({ name, endpoints })),
    });
  }
  assert.equal(upstream.receivedBytes, 0);
});

test("a model's creation time survives a reload", async (t) => {
  const { rig } = await open(t);
  const anthropic: [string, string] = ['anthropic-version', '2023-06-01'];
  const ages = async (): Promise<unknown[]> => [
    (await rig.get('/v1/models')).json(),
    (await rig.get('/v1/models/plain')).json(),
    (await rig.get('/v1/models', { headers: [['x-api-key', testKey], anthropic] })).json(),
    (await rig.get('/api/tags')).json(),
    (await rig.post('/api/show', { model: 'plain' })).json(),
  ];
  const before = await ages();
  const snapshot = await rig.compile(rig.document);
  assert.deepEqual(rig.app.swap({ ...snapshot, createdAtS: snapshot.createdAtS + 3_600 }), []);
  assert.deepEqual(await ages(), before);
});

test("a stored model's creation time is that of its entry", async (t) => {
  const { rig } = await open(t);
  const snapshot = await rig.compile(rig.document);
  const all = snapshot.models.all.map((model) => ({ ...model, createdAtS: 1_700_000_000 }));
  const resolve: typeof snapshot.models.resolve = (name) => {
    const found = snapshot.models.resolve(name);
    return found && { ...found, model: { ...found.model, createdAtS: 1_700_000_000 } };
  };
  assert.deepEqual(rig.app.swap({ ...snapshot, models: { ...snapshot.models, all, resolve } }), []);
  const { data } = (await rig.get('/v1/models')).json() as { data: { created: number }[] };
  assert.deepEqual(new Set(data.map(({ created }) => created)), new Set([1_700_000_000]));
  assert.equal(((await rig.get('/v1/models/plain')).json() as { created: number }).created, 1_700_000_000);
  const { models } = (await rig.get('/api/tags')).json() as { models: { modified_at: string }[] };
  assert.equal(models[0]?.modified_at, '2023-11-14T22:13:20.000Z');
});

test("a chat model shows capabilities and context size to other services' clients", async (t) => {
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: 'http://127.0.0.1:9', api_key: 'sk-upstream-credential' }],
    models: [{ id: 'm', operations: ['chat'], context: 128_000, max_output: 4_096, targets: [{ upstream: 'up' }] }],
  });
  const { data } = (await rig.get('/v1/models', { headers: [['x-api-key', testKey]] })).json() as {
    data: Record<string, unknown>[];
  };
  const [{ capabilities, endpoints, context_length: context, max_output_tokens: most } = {}] = data;
  assert.deepEqual([Object(capabilities).completion_chat, endpoints, context, most], [true, ['chat'], 128_000, 4_096]);
});

test('a model shows vector width, space and maximum price, unless the operator hides them', async (t) => {
  const serve = (server: object) =>
    startRig(t, {
      server,
      upstreams: ['one', 'two'].map((id) => ({
        id,
        family: 'openai',
        base_url: 'http://127.0.0.1:9',
        api_key: 'sk-0123456789',
      })),
      models: [
        {
          id: 'm',
          operations: ['embeddings'],
          dimensions: 1_536,
          space: 'shared',
          targets: [
            { upstream: 'one', price: { input: 0.02, request: 0.001 } },
            { upstream: 'two', price: { input: 0.13, item: 0 } },
          ],
        },
        {
          id: 'n',
          operations: ['embeddings', 'rerank'],
          targets: [{ upstream: 'one', model: 'real', price: { search_unit: 2 } }],
        },
        { id: 'o', operations: ['rerank'], targets: [{ upstream: 'one', model: 'no-price-for-it' }] },
      ],
    });
  const list = async (rig: Rig) => {
    const { data } = (await rig.get('/v1/models')).json() as { data: Record<string, unknown>[] };
    return data.map(({ dimensions, space, pricing }) => [dimensions, space, pricing]);
  };
  assert.deepEqual(await list(await serve({})), [
    [1_536, 'shared', { prompt: '0.00000013', request: '0.001', item: '0' }],
    [undefined, 'real', { search_unit: '2' }],
    [undefined, undefined, undefined],
  ]);
  assert.deepEqual(await list(await serve({ diagnostics: false })), [
    [1_536, undefined, undefined],
    [undefined, undefined, undefined],
    [undefined, undefined, undefined],
  ]);
});

test('a key sees the models that it may use', async (t) => {
  const { rig } = await open(t);
  const answer = await rig.get('/v1/models', { headers: [['x-api-key', narrowKey]] });
  const { data, models } = answer.json() as { data: { id: string }[]; models: { name: string }[] };
  assert.deepEqual(
    data.map(({ id }) => id),
    ['BAAI/bge-m3'],
  );
  assert.deepEqual(
    models.map(({ name }) => name),
    ['BAAI/bge-m3'],
  );
});

test('one model is shown under its ID, alias or a matching name, slashes plain or encoded', async (t) => {
  const { rig } = await open(t);
  const rows: [path: string, id: string][] = [
    ['plain', 'plain'],
    ['plain/', 'plain'],
    ['nickname', 'plain'],
    ['%70lain', 'plain'],
    ['BAAI/bge-m3', 'BAAI/bge-m3'],
    ['BAAI%2Fbge-m3', 'BAAI/bge-m3'],
    ['BAAI%2fbge%2Dm3', 'BAAI/bge-m3'],
    ['gpt-4o', 'gpt-4o'],
    [encodeURIComponent('ünï cödé 模型'), 'ünï cödé 模型'],
    ['models', 'models'],
  ];
  for (const prefix of ['/v1/models/', '/models/', '/v1/v1/models/']) {
    for (const [path, id] of rows) {
      const answer = await rig.get(prefix + path);
      assert.equal(answer.status, 200, prefix + path);
      const shown = answer.json() as { id: string; object: string };
      assert.equal(shown.id, id);
      assert.deepEqual(Object.keys(shown).slice(0, 5), ['id', 'object', 'created', 'owned_by', 'operations']);
    }
  }
});

test("OpenAI's and Cohere's clients read the list and each model", async (t) => {
  const { rig } = await open(t);
  const url = `http://127.0.0.1:${rig.port}`;
  const ids = ['plain', 'BAAI/bge-m3', 'ünï cödé 模型', 'models'];

  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: testKey, maxRetries: 0 });
  const { data } = await openai.models.list();
  assert.deepEqual(
    data.map(({ id }) => id),
    ids,
  );
  const { id, object, owned_by } = await openai.models.retrieve('BAAI/bge-m3');
  assert.deepEqual({ id, object, owned_by }, { id: 'BAAI/bge-m3', object: 'model', owned_by: 'postern' });

  const cohere = new CohereClient({ environment: url, token: testKey, maxRetries: 0 });
  const { models } = await cohere.models.list();
  assert.deepEqual(
    models.map(({ name }) => name),
    ids,
  );
  const { name, endpoints } = await cohere.models.get('plain');
  assert.deepEqual({ name, endpoints }, { name: 'plain', endpoints: ['embed', 'rerank'] });
});

test('hidden, forbidden and unknown models get the same response', async (t) => {
  const { rig } = await open(t);
  const bodies = new Set<string>();
  for (const name of ['hidden', 'hidden-alias', 'gpt-secret', 'dark-1', 'nobody', 'GPT-4']) {
    const answer = await rig.get(`/v1/models/${name}`);
    assertError(answer, 'model_not_found', { param: 'model', of: name });
    bodies.add(answer.body.toString());
  }
  for (const name of ['plain', 'hidden', 'gpt-3.5', 'nobody']) {
    const answer = await rig.get(`/v1/models/${name}`, { headers: [['x-api-key', narrowKey]] });
    assertError(answer, 'model_not_found', { param: 'model', of: name });
    bodies.add(answer.body.toString());
  }
  assert.equal(bodies.size, 1);
});

test('HEAD has the headers of GET without a body, and keeps the connection', async (t) => {
  const { rig } = await open(t);
  for (const [path, status] of [
    ['/v1/models', 200],
    ['/v1/models/plain', 200],
    ['/v1/models/nobody', 404],
    ['/v1/nowhere', 404],
    ['/healthz', 200],
    ['/readyz', 200],
  ] as const) {
    const get = await rig.get(path);
    const head = await rig.get(path, { method: 'HEAD' });
    assert.equal(head.status, status, path);
    assert.equal(head.body.length, 0);
    assert.equal(head.header('content-length'), get.header('content-length'));
    assert.equal(head.header('content-type'), 'application/json');
    const both = await send(
      rig.port,
      [
        toRequestBytes({ method: 'HEAD', path }),
        toRequestBytes({ method: 'HEAD', path, headers: [['Connection', 'close']] }),
      ],
      { method: 'HEAD', until: 'close' },
    );
    assert.equal(both.closed, 'fin', path);
    assert.equal(both.rawBytes.toString().match(/HTTP\/1\.1 \d{3} /g)?.length, 2, path);
  }
});

test('other methods get 405 with the allowed ones', async (t) => {
  const { rig, upstream } = await open(t);
  const rows: [path: string, methods: string[], allow: string][] = [
    ['/v1/embeddings', ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'], 'POST'],
    ['/v1/engines/plain/embeddings', ['GET', 'OPTIONS'], 'POST'],
    ['/v1/models', ['POST', 'DELETE', 'OPTIONS'], 'GET, HEAD'],
    ['/v1/models/plain', ['POST', 'DELETE'], 'GET, HEAD'],
    ['/healthz', ['POST', 'OPTIONS'], 'GET, HEAD'],
  ];
  for (const [path, methods, allow] of rows) {
    for (const method of methods) {
      const answer = await rig.get(path, { method });
      assert.equal(answer.status, 405, `${method} ${path}`);
      assert.equal(answer.header('allow'), allow);
      if (method !== 'HEAD') assertError(answer, 'method_not_allowed', { of: `${method} ${path}` });
    }
  }
  assert.equal(upstream.receivedBytes, 0);
});

test('health checks need no key, and check only the process', async (t) => {
  const { rig, upstream } = await open(t);
  await upstream.close();
  for (const [path, body] of [
    ['/healthz', { status: 'ok' }],
    ['/readyz', { status: 'ready' }],
    ['/healthz/', { status: 'ok' }],
    ['/readyz?verbose', { status: 'ready' }],
  ] as const) {
    const answer = await request({ port: rig.port, path });
    assert.equal(answer.status, 200, path);
    assert.deepEqual(answer.json(), body);
  }
});

test('all other paths are unknown, and none bypasses the route table', async (t) => {
  const { rig, upstream } = await open(t);
  for (const path of [
    '/v1',
    '/v1/',
    '//v1/embeddings',
    '/v1//embeddings',
    '/v1/embeddings//',
    '/V1/embeddings',
    '/v1/Embeddings',
    '/v1/embeddings/x',
    '/v1/%65mbeddings',
    '/v1/embeddings%3Fx',
    '/v1/embeddings;x',
    '/v1/./embeddings',
    '/v1/x/../embeddings',
    '/v2/embeddings',
    '/v2/v1/rerank',
    '/v1/chats',
    '/v1/chat/completions/x',
    '/v1/engines/plain',
    '/v1/engines//embeddings',
    '/v1/engines/embeddings',
    '/v1/engines/plain/embedding',
    '/v1/modelsx',
    '/healthz/x',
    '/metrics',
    '/console',
    '/admin',
    '/*',
  ]) {
    assertError(await rig.post(path, '{"model":"plain","input":"x"}'), 'route_not_found', { of: path });
  }
  assert.equal(upstream.receivedBytes, 0);
});

test('completions and edits work on the legacy /v1/engines path with the model in their body', async (t) => {
  const { rig, upstream } = await open(t);
  for (const [path, body, at, sent] of [
    [
      '/v1/engines/gpt-4o/completions',
      '{"prompt":"x", "n":1.0}',
      '/completions',
      '{"model":"gpt-4o","prompt":"x", "n":1.0}',
    ],
    ['/engines/gpt%2d4/completions', '{"prompt":[1],"model":"no"}', '/completions', '{"prompt":[1],"model":"gpt-4"}'],
    [
      '/v1/engines/models/edits',
      '{"input":"","instruction":"i"}',
      '/edits',
      '{"model":"models","input":"","instruction":"i"}',
    ],
  ] as const) {
    assert.equal((await rig.post(path, body)).status, 200, path);
    const request = await upstream.nextRequest();
    assert.deepEqual([request.path, request.body.toString()], [at, sent]);
  }
  assertError(await rig.post('/v1/engines/plain/completions', '{"prompt":"x"}'), 'operation_not_supported', {
    param: 'model',
  });
  assertError(await rig.post('/v1/engines/gpt-4/completions', '{}'), 'missing_required_parameter', { param: 'prompt' });
});

test('a model in the legacy /v1/engines path is decoded once, and invalid names are a 404', async (t) => {
  const { rig, upstream } = await open(t, {
    models: [
      { id: '*', operations: ['embeddings'], targets: [{ upstream: 'up', model: 'upstream-*' }] },
      // With a percent sign a name is found where it is written down.
      ...['a%2Fb', '%25'].map((id) => ({
        id,
        operations: ['embeddings'],
        space: id,
        targets: [{ upstream: 'up', model: `upstream-${id}` }],
      })),
      { id: 'dark', visible: false, targets: [{ upstream: 'up' }] },
    ],
  });
  const post = (name: string, prefix = '/v1/engines/') => rig.post(`${prefix}${name}/embeddings`, '{"input":"x"}');
  const good: [written: string, name: string][] = [
    ['BAAI/bge-m3', 'BAAI/bge-m3'],
    ['BAAI%2Fbge-m3', 'BAAI/bge-m3'],
    ['a%252Fb', 'a%2Fb'],
    ['%2525', '%25'],
    ['a%20b', 'a b'],
    ['a+b', 'a+b'],
    ['x/embeddings', 'x/embeddings'],
    ['embeddings', 'embeddings'],
    ['%E6%A8%A1', '模'],
    ['a:b@c;d=e,f', 'a:b@c;d=e,f'],
    ['...', '...'],
    ['a%22b', 'a"b'],
    ["a'b", "a'b"],
  ];
  for (const [written, name] of good) {
    for (const prefix of ['/v1/engines/', '/engines/', '/v1/v1/engines/']) {
      assert.equal((await post(written, prefix)).status, 200, written);
      const sent = await upstream.nextRequest();
      assert.equal(sent.path, '/embeddings');
      assert.equal(sent.body.toString(), `{"model":${JSON.stringify(`upstream-${name}`)},"input":"x"}`);
    }
  }
  const seen = upstream.receivedBytes;
  for (const written of [
    '..',
    '.',
    '%2e%2e',
    '%2E',
    '../engines/x',
    'a/../b',
    'a/%2e%2e/b',
    'a%2f..%2fb',
    'a/./b',
    'a//b',
    'a%2F%2Fb',
    '/a',
    '%2Fa',
    'a/',
    'a%2F',
    '%00',
    'a%00b',
    'a%0D%0Ab',
    'a%0ab',
    'a%7f',
    'a%C2%80',
    'a%3Fb',
    'a%23b',
    'a%5Cb',
    'a\\b',
    '%',
    '%zz',
    '%ff',
    '%ED%A0%80',
    '%C0%AF',
  ]) {
    assertError(await post(written), 'route_not_found', { of: written });
  }
  for (const written of ['c%252Fd', '%252e%252e']) {
    assertError(await post(written), 'model_not_found', { param: 'model', of: written });
  }
  assertError(await post('dark'), 'model_not_found', { param: 'model' });
  assertError(await post('d%61rk'), 'model_not_found', { param: 'model' });
  assert.equal(upstream.receivedBytes, seen);
});
