import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { imported } from '../../../../test/support/ledger/ledger-rows.ts';
import type { ConfiguredElement } from '../../../core/resource-editor.ts';

const configuration = {
  upstreams: [
    { id: 'one', family: 'openai', base_url: 'http://127.0.0.1:9/v1' },
    { id: 'real', family: 'openai', api_key: 'sk-0123456789' },
    { id: 'local', family: 'local' },
  ],
  models: [
    {
      id: 'BAAI/bge-m3',
      aliases: ['bge'],
      operations: ['embeddings'],
      targets: [{ upstream: 'one' }],
      price: { input: '0.01' },
    },
    { id: 'hidden', operations: ['completions'], visible: false, targets: [{ upstream: 'one' }] },
    { id: 'text-embedding-3-small', operations: ['embeddings'], targets: [{ upstream: 'real' }] },
  ],
};
const open = (t: TestContext, role: 'viewer' | 'editor' | 'owner' = 'editor') => openAdmin(t, { role, configuration });

const document = { operations: ['rerank'], targets: [{ upstream: 'one', model: 'm' }] };
const create = { 'if-none-match': '*' };

test('the model list shows targets and price of each model, and whether the file or the store manages it', async (t) => {
  const { ask, store } = await open(t, 'viewer');
  await store.health.report('node-1', [
    {
      upstream: 'one',
      model: 'BAAI/bge-m3',
      state: 'resting',
      restsForMs: 4_000,
      why: 'connection refused',
      inFlight: 0,
      waiting: 0,
      latencyMs: 12,
      isListed: false,
      restingCredentials: [],
    },
  ]);
  const { status, json } = await ask('GET', '/api/models');
  assert.equal(status, 200);
  const by = new Map<string, (typeof json.items)[number]>(json.items.map((one: { id: string }) => [one.id, one]));
  const bge = by.get('BAAI/bge-m3');
  assert.deepEqual([bge.managedBy, bge.place.line, bge.version, bge.inForce], ['file', 1, null, true]);
  const [target] = bge.targets;
  assert.deepEqual([target.health, target.nodes[0].why], ['resting', 'connection refused']);
  assert.deepEqual([target.isListed, by.get('local/bm25').targets[0].isListed], [false, true]);
  assert.deepEqual([target.price.source, target.price.amounts], ['model', { input: '0.01' }]);
  const listed = by.get('text-embedding-3-small').targets[0].price;
  assert.deepEqual([listed.source, listed.amounts.input, listed.listed.verified], ['table', '0.02', false]);
  const built = by.get('local/bm25');
  assert.deepEqual(
    [built.managedBy, built.targets[0].price.source, built.targets[0].price.isFree],
    ['built-in', 'inside', true],
  );
  assert.equal(by.get('hidden').targets[0].price.source, 'unknown');
});

test('filters and pages of the model list give every matching model once', async (t) => {
  const { ask } = await open(t);
  const ids = async (query: string) =>
    (await ask('GET', `/api/models?${query}`)).json.items.map((one: { id: string }) => one.id);
  assert.deepEqual(await ids('q=BGE'), ['BAAI/bge-m3']);
  assert.deepEqual(await ids('visible=false'), ['hidden']);
  assert.deepEqual(await ids('upstream=real'), ['text-embedding-3-small']);
  assert.deepEqual(await ids('operation=rerank'), ['local/bm25']);
  assert.deepEqual(await ids('managedBy=store'), []);
  assert.deepEqual(await ids('q=%25_'), []);
  const seen: string[] = [];
  for (let before = ''; ; ) {
    const { json } = await ask(
      'GET',
      `/api/models?limit=2${before === '' ? '' : `&before=${encodeURIComponent(before)}`}`,
    );
    assert.equal(json.total, 7);
    seen.push(...json.items.map((one: { id: string }) => one.id));
    if (json.next === null) break;
    before = json.next;
  }
  assert.equal(new Set(seen).size, 7);
  assert.equal(seen.length, 7);
});

test('models and upstreams are listed with their traffic, and can be sorted by it, page by page', async (t) => {
  const { ask, store, context } = await open(t, 'viewer');
  const startedAtMs = context.clock.nowMs() - 60_000;
  const rowsOf = (model: string, upstream: string, count: number, durationMs: number) =>
    Array.from({ length: count }, () => imported({ model, upstream, startedAtMs, durationMs, costNanos: 1_000 }));
  const rows = [...rowsOf('hidden', 'one', 3, 20), ...rowsOf('text-embedding-3-small', 'real', 2, 900)];
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  const listed = async (path: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let before = ''; ; ) {
      const page = (await ask('GET', `${path}&limit=2${before && `&before=${encodeURIComponent(before)}`}`)).json;
      ids.push(...page.items.map(({ id }: { id: string }) => id));
      if (page.next === null) return ids;
      before = page.next;
    }
  };
  const busiest = await listed('/api/models?sort=requests');
  assert.deepEqual([busiest.slice(0, 2), new Set(busiest).size], [['hidden', 'text-embedding-3-small'], 7]);
  assert.deepEqual((await listed('/api/models?sort=p95')).slice(0, 2), ['text-embedding-3-small', 'hidden']);
  assert.equal((await listed('/api/models?sort=name&direction=asc'))[0], 'BAAI/bge-m3');
  assert.deepEqual(await listed('/api/upstreams?sort=p95'), ['real', 'one', 'local']);
  const { items } = (await ask('GET', '/api/models?sort=requests&limit=3')).json;
  assert.deepEqual(
    items.map(({ traffic }: { traffic: { requests: number; cost: string } | null }) => traffic?.requests ?? null),
    [3, 2, null],
  );
});

test('a model is created, read with its version, changed and deleted', async (t) => {
  const { ask, follow, store } = await open(t);
  const path = '/api/models/org%2Freranker';
  assert.equal((await ask('PUT', path, document)).status, 428);
  const put = await ask('PUT', path, document, create);
  assert.deepEqual([put.status, put.headers.get('etag')], [201, '"1"']);
  await follow();
  const got = await ask('GET', path);
  assert.equal(got.headers.get('etag'), '"1"');
  assert.deepEqual(got.json.document, { ...document, id: 'org/reranker' });
  assert.equal(got.json.inForce, true);
  const changed = await ask('PUT', path, { ...document, aliases: ['r'] }, { 'if-match': '"1"' });
  assert.deepEqual([changed.status, changed.headers.get('etag')], [200, '"2"']);
  const late = await ask('PUT', path, document, { 'if-match': '"1"' });
  assert.deepEqual([late.status, late.json.code, late.headers.get('etag')], [412, 'changed_meanwhile', '"2"']);
  assert.match(
    late.json.detail,
    /^editor@example\.com changed the model org\/reranker at 20\d\d-\d\d-\d\d \d\d:\d\d UTC;/,
  );
  assert.equal((await ask('PUT', path, document, create)).json.code, 'already_there');
  assert.equal((await ask('DELETE', path, undefined, { 'if-match': '"1"' })).status, 412);
  assert.equal((await ask('DELETE', path, undefined, { 'if-match': '"2"' })).status, 204);
  assert.equal((await ask('DELETE', path)).status, 404);
  const log = await store.audit.page({ limit: 10, subject: 'org/reranker' });
  assert.deepEqual(
    log.map(({ action, actor }) => `${actor} ${action}`).toReversed(),
    ['put', 'put', 'remove'].map((action) => `console: editor@example.com model.${action}`),
  );
});

test('an invalid model is refused with the names of its fields, and nothing is written', async (t) => {
  const { ask } = await open(t);
  const wrong = { targets: [{ upstream: 'nowhere' }], operations: ['rerank'], colour: 'red' };
  const { status, json } = await ask('PUT', '/api/models/m', wrong, create);
  assert.deepEqual([status, json.code], [422, 'invalid_fields']);
  assert.deepEqual(json.fields.map(({ path }: { path: string }) => path).toSorted(), ['colour', 'targets[0].upstream']);
  assert.equal((await ask('GET', '/api/models/m')).status, 404);
});

test('hiding a hidden model changes nothing, and hiding needs no If-Match header', async (t) => {
  const { ask, follow, store } = await open(t);
  await ask('PUT', '/api/models/m', document, create);
  await follow();
  const hide = await ask('PATCH', '/api/models/m', { visible: false });
  assert.deepEqual([hide.status, hide.json.outcome, hide.json.version], [200, 'changed', 2]);
  assert.match(hide.json.warnings.join(), /nothing reaches it/);
  assert.deepEqual((await ask('PATCH', '/api/models/m', { visible: false })).json.outcome, 'unchanged');
  assert.equal((await ask('GET', '/api/models/m')).json.visible, false);
  assert.equal((await ask('PATCH', '/api/models/m', { visible: true }, { 'if-match': '"1"' })).status, 412);
  assert.equal((await ask('PATCH', '/api/models/m', { visible: true })).json.version, 3);
  const [last] = await store.resources.list();
  assert.deepEqual(last?.document, { ...document, id: 'm' });
});

test('a model of the configuration file cannot be changed through the API, and the error gives its location', async (t) => {
  const { ask, cwd } = await open(t);
  for (const [method, body] of [
    ['PUT', document],
    ['PATCH', { visible: false }],
    ['DELETE', undefined],
  ] as const) {
    const { status, json } = await ask(method, '/api/models/BAAI%2Fbge-m3', body, method === 'PUT' ? create : {});
    assert.deepEqual([method, status, json.code], [method, 409, 'managed_by_file']);
    assert.ok(json.detail.includes(`${cwd}/postern.yaml, line 1`), json.detail);
  }
});

test('a built-in model is hidden by a stored entry, and visible again when the entry is deleted', async (t) => {
  const { ask, follow } = await open(t);
  const path = '/api/models/local%2Fbm25';
  assert.equal((await ask('DELETE', path)).json.code, 'managed_by_file');
  assert.equal((await ask('PATCH', path, { visible: false })).json.outcome, 'created');
  await follow();
  const hidden = (await ask('GET', path)).json;
  assert.deepEqual([hidden.visible, hidden.managedBy], [false, 'store']);
  assert.equal((await ask('DELETE', path)).status, 204);
  await follow();
  const back = (await ask('GET', path)).json;
  assert.deepEqual([back.visible, back.managedBy], [true, 'built-in']);
});

test('a viewer can read models, but not change or test them', async (t) => {
  const { ask } = await open(t, 'viewer');
  assert.equal((await ask('GET', '/api/models/hidden')).status, 200);
  for (const [method, path, body] of [
    ['PUT', '/api/models/m', document],
    ['PATCH', '/api/models/hidden', { visible: true }],
    ['DELETE', '/api/models/hidden', undefined],
    ['POST', '/api/models/hidden/test', { operation: 'completions' }],
  ] as const) {
    assert.equal((await ask(method, path, body)).status, 403);
  }
});

test('a page of models or upstreams reads only its own documents, and each report once', async (t) => {
  const [models, upstreams] = [400, 40];
  const { ask, context } = await openAdmin(t, {
    configuration: {
      upstreams: Array.from({ length: upstreams }, (_, at) => ({
        id: `up-${at}`,
        family: 'openai',
        base_url: 'http://127.0.0.1:9/v1',
      })),
      models: Array.from({ length: models }, (_, at) => ({
        id: `model-${at}`,
        operations: ['embeddings'],
        targets: [{ upstream: `up-${at % upstreams}` }],
      })),
    },
  });
  let documents = 0;
  let scans = 0;
  const { resources, store } = context;
  const counted = (element: ConfiguredElement): ConfiguredElement => {
    const copy = { ...element };
    return Object.defineProperty(copy, 'document', {
      enumerable: true,
      get() {
        documents += 1;
        return element.document;
      },
    });
  };
  const targets = Array.from({ length: models }, (_, at) => ({
    upstream: `up-${at % upstreams}`,
    model: `model-${at}`,
    state: 'healthy' as const,
    isKnown: true,
    restsForMs: 0,
    why: undefined,
    inFlight: 0,
    waiting: 0,
    latencyMs: 1,
    restingCredentials: [],
  }));
  const report = {
    node: 'n',
    reportedAtMs: Date.now(),
    get targets() {
      scans += 1;
      return targets;
    },
  };
  Object.assign(context, {
    resources: { ...resources, list: async (kind: 'model') => (await resources.list(kind)).map(counted) },
  });
  Object.assign(store.health, { latest: async () => [report] });

  const pages = ['/api/models?limit=20', '/api/models?limit=20&before=model-390', '/api/upstreams?limit=20'];
  for (const path of pages) {
    documents = 0;
    const { json } = await ask('GET', path);
    assert.ok(json.items.length > 0 && json.items.length <= 20);
    assert.ok(documents <= 2 * json.items.length, `${path}: ${documents} documents for ${json.items.length} items`);
    assert.ok(JSON.stringify(json.items).includes('"state":"healthy"'), path);
  }
  assert.equal((await ask('GET', '/api/models?limit=1&q=model-399')).json.total, 1);
  assert.equal(scans, 1);
  assert.equal((await ask('GET', '/api/health')).json.targets.length, models);
});
