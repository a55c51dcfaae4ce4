import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { type FakeUpstream, startFakeUpstream } from '../../../../test/support/upstreams/fake-upstream.ts';

const key = 'sk-stored-0123456789';
const create = { 'if-none-match': '*' };
const env = { POSTERN_SECRET_KEY: '11'.repeat(32) };

const listing = (upstream: FakeUpstream): void =>
  upstream.respondWith((request, reply) =>
    request.header('authorization') === `Bearer ${key}`
      ? reply.json(200, { data: [{ id: 'b' }, { id: 'a' }] })
      : reply.json(401, { error: { message: 'Incorrect API key provided: sk-st***789' } }),
  );

async function startListing(t: { after(end: () => Promise<unknown>): void }): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  listing(upstream);
  return upstream;
}

test('an upstream is created, shown without its secret, changed and deleted', async (t) => {
  const { ask, follow, store } = await openAdmin(t, { role: 'admin', env });
  const document = { family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: key };
  const put = await ask('PUT', '/api/upstreams/mine', document, create);
  assert.equal(put.status, 201, JSON.stringify(put.json));
  await follow();

  const shown = await ask('GET', '/api/upstreams/mine');
  assert.equal(shown.headers.get('etag'), '"1"');
  assert.deepEqual(shown.json.document, { ...document, id: 'mine', api_key: '(sealed)' });
  assert.deepEqual(shown.json.credentials, [{ id: 'key', from: 'store', hint: null, weight: 1, resting: false }]);
  assert.deepEqual(
    [shown.json.family.title, shown.json.address, shown.json.managedBy, shown.json.state],
    ['OpenAI and compatible services', 'http://127.0.0.1:9/v1', 'store', 'unknown'],
  );
  const list = await ask('GET', '/api/upstreams');
  assert.deepEqual([list.json.total, list.json.items[0].id, list.json.next], [1, 'mine', null]);
  for (const text of [JSON.stringify(list.json), JSON.stringify(shown.json)]) assert.doesNotMatch(text, /sk-stored/);

  const changed = { ...shown.json.document, limits: { concurrency: 3 } };
  assert.equal((await ask('PUT', '/api/upstreams/mine', changed, { 'if-match': '"7"' })).status, 412);
  assert.equal((await ask('PUT', '/api/upstreams/mine', changed)).status, 428);
  assert.equal((await ask('PUT', '/api/upstreams/mine', changed, { 'if-match': '"1"' })).json.outcome, 'changed');
  await follow();
  assert.equal((await ask('GET', '/api/upstreams/mine')).json.limits.concurrency, 3);
  assert.equal((await ask('DELETE', '/api/upstreams/mine', undefined, { 'if-match': '"2"' })).status, 204);
  assert.equal((await ask('GET', '/api/upstreams/mine')).status, 404);
  const audit = JSON.stringify(await store.audit.page({ limit: 10 }));
  assert.doesNotMatch(audit, /sk-stored/);
});

test('an upstream of the configuration file is shown with its line and cannot be changed through the API', async (t) => {
  const upstreams = [{ id: 'ours', family: 'cohere', api_key: `\${COHERE_KEY}` }];
  const { ask } = await openAdmin(t, { configuration: { upstreams }, env: { COHERE_KEY: 'co-0123456789' } });
  const { json } = await ask('GET', '/api/upstreams/ours');
  assert.equal(json.managedBy, 'file');
  assert.equal(typeof json.place.line, 'number');
  assert.deepEqual(json.credentials, [
    { id: 'key', from: 'environment', hint: 'COHERE_KEY', weight: 1, resting: false },
  ]);
  assert.equal((await ask('PUT', '/api/upstreams/ours', { family: 'openai' }, { 'if-match': '"1"' })).status, 409);
  assert.equal((await ask('DELETE', '/api/upstreams/ours')).status, 409);
});

test('an upstream in use cannot be deleted, and the response names the models that use it', async (t) => {
  const { ask } = await openAdmin(t, { env });
  await ask('PUT', '/api/upstreams/mine', { family: 'openai', base_url: 'http://127.0.0.1:9' }, create);
  await ask(
    'PUT',
    '/api/models/m',
    { operations: ['embeddings'], space: 's', targets: [{ upstream: 'mine' }] },
    create,
  );
  const { status, json } = await ask('DELETE', '/api/upstreams/mine');
  assert.equal(status, 409);
  assert.match(json.detail, /model "m"/);
});

test("a stored credential is refused after a change of the base URL's origin, and must be entered again", async (t) => {
  const { ask } = await openAdmin(t, { env });
  const document = { family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: key, headers: { 'x-team': 'red' } };
  await ask('PUT', '/api/upstreams/mine', document, create);
  const kept = { ...document, api_key: '(sealed)', headers: { 'x-team': '(sealed)' } };
  const moved = { ...kept, base_url: 'http://127.0.0.1:10/v1' };

  for (const [method, path, body] of [
    ['PUT', '/api/upstreams/mine', moved],
    ['POST', '/api/upstreams/test', { id: 'mine', document: moved }],
    // Another family has another address.
    ['PUT', '/api/upstreams/mine', { ...kept, base_url: undefined }],
  ] as const) {
    const { status, json } = await ask(method, path, body, { 'if-match': '"1"' });
    assert.equal(status, 422, `${method} ${path}`);
    assert.deepEqual(
      json.fields.map((fault: { path: string }) => fault.path),
      ['api_key', 'headers.x-team'],
    );
    assert.match(json.fields[0].message, /was entered for http:\/\/127\.0\.0\.1:9; enter it again/);
  }
  // Another path at the same origin is permitted.
  const sameOrigin = { ...kept, base_url: 'http://127.0.0.1:9/v2' };
  assert.equal((await ask('PUT', '/api/upstreams/mine', sameOrigin, { 'if-match': '"1"' })).status, 200);
  const anew = { ...moved, api_key: 'sk-other-0123456789', headers: { 'x-team': 'blue' } };
  assert.equal((await ask('PUT', '/api/upstreams/mine', anew, { 'if-match': '"2"' })).status, 200);
});

test('changing an option that changes the address, such as the region, requires entering the credential again', async (t) => {
  const { ask } = await openAdmin(t, { env });
  const document = { family: 'bedrock', options: { region: 'us-east-1' }, api_key: 'a-bedrock-api-key' };
  assert.equal((await ask('PUT', '/api/upstreams/b', document, create)).status, 201);
  const moved = { ...document, options: { region: 'eu-west-1' }, api_key: '(sealed)' };
  const { status, json } = await ask('PUT', '/api/upstreams/b', moved, { 'if-match': '"1"' });
  assert.deepEqual([status, json.fields[0].path], [422, 'api_key']);
});

test('refuses upstreams with key files or with addresses that the address policy excludes', async (t) => {
  const { ask } = await openAdmin(t, { env });
  const at = async (document: object) =>
    (await ask('PUT', '/api/upstreams/x', { family: 'openai', ...document }, create)).json;
  const file = await at({ api_key_file: '/etc/hostname' });
  assert.match(file.fields[0].message, /names a file on the machine/);
  assert.equal(file.fields[0].path, 'api_key_file');
  const listed = await at({ credentials: [{ api_key_file: '/etc/hostname' }] });
  assert.equal(listed.fields[0].path, 'credentials[0].api_key_file');
  for (const host of ['169.254.169.254', '[::ffff:169.254.169.254]', '0x0', '100.64.1.1']) {
    const json = await at({ base_url: `http://${host}/v1` });
    assert.equal(json.fields?.[0].path, 'base_url', host);
    assert.match(json.fields[0].message, /not allowed for upstreams of the store/);
  }
});

test('an upstream at a Unix socket is refused on create, change and test', async (t) => {
  const { ask, store } = await openAdmin(t, { env });
  const document = { family: 'openai', base_url: 'http://127.0.0.1:9/v1' };
  assert.equal((await ask('PUT', '/api/upstreams/x', document, create)).status, 201);
  const moved = { ...document, base_url: 'unix:/run/x.sock:/v1' };
  for (const [method, path, body, headers] of [
    ['PUT', '/api/upstreams/y', moved, create],
    ['PUT', '/api/upstreams/x', moved, { 'if-match': '"1"' }],
    ['POST', '/api/upstreams/test', { id: 'x', document: moved }, {}],
  ] as const) {
    const { status, json } = await ask(method, path, body, headers);
    assert.equal(status, 422, `${path} ${JSON.stringify(json)}`);
    assert.match(json.fields[0].path, /base_url$/);
    assert.match(json.fields[0].message, /names a socket of the machine.*configuration file/);
  }
  const stored = await store.resources.list();
  assert.deepEqual(
    stored.map((one) => [one.id, one.version]),
    [['x', 1]],
  );
});

test('each of several credentials keeps its secret when it is saved masked, even after an earlier one was removed', async (t) => {
  const { ask, follow, context } = await openAdmin(t, { env });
  const base = { family: 'openai', base_url: 'http://127.0.0.1:9' };
  const credentials = ['sk-first-0123456789', 'sk-second-0123456789'].map((api_key) => ({ api_key, weight: 1 }));
  await ask('PUT', '/api/upstreams/x', { ...base, credentials }, create);
  const { json } = await ask('GET', '/api/upstreams/x');
  assert.deepEqual(
    json.document.credentials.map((one: { api_key: string }) => one.api_key),
    ['(sealed credentials[0].api_key)', '(sealed credentials[1].api_key)'],
  );
  const [, second] = json.document.credentials;
  const put = await ask(
    'PUT',
    '/api/upstreams/x',
    { ...base, credentials: [{ ...second, weight: 5 }] },
    { 'if-match': '"1"' },
  );
  assert.equal(put.status, 200, JSON.stringify(put.json));
  await follow();
  const upstream = context.configuration.snapshot().upstreams.get('x');
  assert.deepEqual(upstream?.credentials[0].headers, ['authorization', 'Bearer sk-second-0123456789']);
  assert.equal(upstream?.credentials[0].weight, 5);
  // An ambiguous one is refused.
  const vague = { ...base, credentials: [{ api_key: '(sealed)' }] };
  assert.equal((await ask('PUT', '/api/upstreams/x', vague, { 'if-match': '"2"' })).status, 422);
});

test('an unsaved upstream can be tested with typed or stored credentials, and nothing is written', async (t) => {
  const upstream = await startListing(t);
  const { ask } = await openAdmin(t, { env });
  const document = { family: 'openai', base_url: upstream.url, api_key: key };
  const good = await ask('POST', '/api/upstreams/test', { id: 'draft', document });
  assert.deepEqual([good.json.ok, good.json.models, good.json.problem], [true, 2, null]);
  assert.equal((await ask('GET', '/api/upstreams')).json.total, 0);

  const bad = await ask('POST', '/api/upstreams/test', {
    id: 'draft',
    document: { ...document, api_key: 'sk-wrong-0123456' },
  });
  assert.equal(bad.json.ok, false);
  assert.deepEqual([bad.json.problem.field, bad.json.credentials[0].status], ['api_key', 401]);
  assert.doesNotMatch(JSON.stringify(bad.json), /sk-/);

  await ask('PUT', '/api/upstreams/draft', document, create);
  const kept = await ask('POST', '/api/upstreams/test', {
    id: 'draft',
    document: { ...document, api_key: '(sealed)' },
  });
  assert.equal(kept.json.ok, true);
  const stored = await ask('POST', '/api/upstreams/draft/test');
  assert.equal(stored.json.ok, true);
});

test('the models that the upstream itself lists are shown beside the configured models that use it', async (t) => {
  const upstream = await startListing(t);
  const { ask, follow, context } = await openAdmin(t, { env });
  await ask('PUT', '/api/upstreams/mine', { family: 'openai', base_url: upstream.url, api_key: key }, create);
  const prices = { as_of: '2026-11-01', source: 'ours.csv', csv: 'service,model,input\n127.0.0.1,a,3\n' };
  await context.resources.put('setting', 'prices', prices, { actor: 'test' });
  const targets = [{ upstream: 'mine', model: 'b' }];
  await ask('PUT', '/api/models/public-b', { operations: ['embeddings'], space: 's', targets }, create);
  await follow();
  const { json } = await ask('GET', '/api/upstreams/mine/models');
  assert.deepEqual(json, {
    listed: true,
    note: null,
    ownServer: false,
    items: [
      {
        ...{ id: 'a', operations: null, models: [] },
        price: {
          source: 'imported',
          amounts: { input: '3' },
          isFree: false,
          listed: { source: 'ours.csv', asOf: '2026-11-01', verified: true },
        },
      },
      { id: 'b', operations: null, models: ['public-b'], price: null },
    ],
  });
  await ask('PUT', '/api/upstreams/jina', { family: 'jina', api_key: key }, create);
  const none = await ask('GET', '/api/upstreams/jina/models');
  assert.deepEqual([none.json.listed, none.json.items], [false, []]);
  upstream.respondWith((_request, reply) => reply.json(500, {}));
  assert.equal((await ask('GET', '/api/upstreams/mine/models')).status, 502);
});

test('the state of an upstream merges health, load and listed models as all nodes report them', async (t) => {
  const configuration = {
    upstreams: [{ id: 'a', family: 'openai', base_url: 'http://127.0.0.1:9', api_key: key }],
    models: [{ id: 'm', operations: ['embeddings'], space: 's', targets: [{ upstream: 'a', model: 'x' }] }],
  };
  const { ask, store } = await openAdmin(t, { configuration });
  const state = {
    upstream: 'a',
    model: 'x',
    restsForMs: 0,
    why: undefined,
    inFlight: 2,
    waiting: 1,
    restingCredentials: [],
  };
  await store.health.report('one', [{ ...state, state: 'healthy', latencyMs: 10 }]);
  await store.health.report('two', [
    { ...state, state: 'resting', why: 'status 503', restsForMs: 900, latencyMs: 30, restingCredentials: ['key'] },
  ]);
  const { json } = await ask('GET', '/api/upstreams/a');
  assert.deepEqual(
    [json.state, json.why, json.inFlight, json.waiting, json.latencyMs, json.nodes.length],
    ['resting', 'status 503', 4, 2, 20, 2],
  );
  assert.equal(json.credentials[0].resting, true);
  assert.deepEqual(json.models, ['m']);
  assert.deepEqual([json.targets[0].model, json.targets[0].models, json.targets[0].state], ['x', ['m'], 'resting']);
  assert.equal(json.targets[0].isListed, true);
  await store.health.report('one', [{ ...state, state: 'healthy', latencyMs: 10, isListed: false }]);
  assert.equal((await ask('GET', '/api/upstreams/a')).json.targets[0].isListed, false);
});

test('viewers can read upstreams, but not change or test them', async (t) => {
  const upstream = await startListing(t);
  const { ask, become } = await openAdmin(t, { env });
  const document = { family: 'openai', base_url: upstream.url, api_key: key };
  await ask('PUT', '/api/upstreams/mine', document, create);
  const statuses = async () => [
    (await ask('GET', '/api/upstreams/mine')).status,
    (await ask('POST', '/api/upstreams/mine/test')).status,
    (await ask('GET', '/api/upstreams/mine/models')).status,
    (await ask('POST', '/api/upstreams/test', { id: 'x', document })).status,
    (await ask('PUT', '/api/upstreams/x', document, create)).status,
  ];
  become('viewer');
  assert.deepEqual(await statuses(), [200, 403, 403, 403, 403]);
  become('editor');
  assert.deepEqual(await statuses(), [200, 200, 200, 403, 403]);
});

test('each upstream family describes its form fields', async (t) => {
  const { ask } = await openAdmin(t, { role: 'viewer' });
  const { json } = await ask('GET', '/api/families');
  const families = new Map<string, { [field: string]: unknown }>(
    json.items.map((family: { id: string }) => [family.id, family]),
  );
  const row = (id: string) => {
    const { kind, credential, needsAddress, listsModels } = families.get(id) ?? {};
    return [kind, credential, needsAddress, listsModels];
  };
  assert.deepEqual(row('openai'), ['service', 'key', false, true]);
  assert.deepEqual(row('local'), ['built-in', 'none', false, false]);
  assert.deepEqual(row('tei'), ['own-server', 'key', false, true]);
  assert.deepEqual(row('azure'), ['cloud', 'key', true, false]);
  assert.deepEqual(row('bedrock'), ['cloud', 'signed', false, false]);
  assert.deepEqual(row('vertex'), ['cloud', 'document', false, false]);
  assert.deepEqual(families.get('bedrock')?.options, [
    {
      name: 'region',
      description: 'The AWS region, such as `us-east-1`.',
      values: null,
      pattern: '^[a-z]{2,}(?:-[a-z0-9]+)+$',
      form: null,
      default: null,
      required: true,
    },
  ]);
});

test('refuses a write whose If-Match version does not exist yet', async (t) => {
  const { ask, context } = await openAdmin(t, { env });
  const document = { family: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: key };
  assert.equal((await ask('PUT', '/api/upstreams/mine', document, create)).status, 201);

  // Between the check and the write, another writer creates the expected version.
  const { resources } = context;
  let isMade = false;
  const racing = {
    ...resources,
    async get(...asked: Parameters<typeof resources.get>) {
      const found = await resources.get(...asked);
      if (!isMade) {
        isMade = true;
        const changed = { ...document, api_key: '(sealed)', limits: { concurrency: 3 } };
        await resources.put('upstream', 'mine', changed, { expected: 1, actor: 'console: eve@example.com' });
      }
      return found;
    },
  };
  Object.assign(context, { resources: racing });
  const stolen = { ...document, base_url: 'http://127.0.0.1:10/v1', api_key: '(sealed)' };
  const { status, json } = await ask('PUT', '/api/upstreams/mine', stolen, { 'if-match': '"2"' });
  assert.equal(status, 412, JSON.stringify(json));
  assert.equal((await resources.get('upstream', 'mine'))?.document.base_url, document.base_url);
});
