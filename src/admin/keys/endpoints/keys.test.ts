import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { ledgerRow } from '../../../../test/support/ledger/ledger-rows.ts';
import type { LedgerRow } from '../../../core/accounting/ledger-row.ts';
import { digestOf, hasValidChecksum } from '../../../lib/secrets/key-secret.ts';

const fileKey = {
  id: 'dev',
  secret: 'a-secret-of-the-file-1234',
  models: ['*'],
  budgets: [{ every: 'day', amount: 5 }],
};

const configuration = {
  upstreams: [{ id: 'up', family: 'openai', api_key: 'sk-upstream-0123456789', base_url: 'http://127.0.0.1:9/v1' }],
  models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
  keys: [fileKey],
  projects: [{ id: 'search', name: 'Search', budgets: [{ every: 'total', amount: '100' }] }],
};

const dayMs = 86_400_000;

test('a key can be created with every setting of the configuration file, and its secret is returned only once', async (t) => {
  const { ask, store } = await openAdmin(t, { role: 'admin', configuration });
  const made = await ask('POST', '/api/keys', {
    name: ' Search, production ',
    project: 'search',
    models: ['m'],
    operations: ['embeddings'],
    addresses: ['10.0.0.0/8'],
    expires: '30d',
    limits: { requests_per_minute: 60, concurrency: 4 },
    budgets: [{ every: 'month', amount: '50', alerts: ['80%'] }],
    metadata: { team: 'search' },
    capture: '7d',
  });
  assert.equal(made.status, 201);
  const { secret, ...key } = made.json;
  assert.ok(hasValidChecksum(secret));
  assert.equal(made.headers.get('cache-control'), 'no-store');
  assert.equal(made.headers.get('etag'), '"1"');
  assert.equal((await store.keys.find(digestOf(secret)))?.id, key.id);
  const { expires, ...document } = key.document;
  assert.deepEqual(document, {
    name: 'Search, production',
    project: 'search',
    models: ['m'],
    operations: ['embeddings'],
    addresses: ['10.0.0.0/8'],
    limits: { requests_per_minute: 60, concurrency: 4 },
    budgets: [{ every: 'month', amount: '50', alerts: ['80%'] }],
    metadata: { team: 'search' },
    capture: '7d',
  });
  assert.ok(Math.abs(Date.parse(expires) - Date.now() - 30 * dayMs) < 60_000);
  assert.equal(key.state, 'active');
  assert.match(key.warnings[0], /the price of m is not known/);

  const everywhere = JSON.stringify([
    await ask('GET', '/api/keys'),
    await ask('GET', `/api/keys/${key.id}`),
    await ask('GET', '/api/audit'),
    await store.audit.page({ limit: 100 }),
  ]);
  assert.ok(everywhere.includes(key.id));
  assert.ok(!everywhere.includes(secret) && !everywhere.includes(digestOf(secret)));
});

test('parallel requests with one Idempotency-Key create one key; another body is refused, another caller is separate', async (t) => {
  const { ask, become, store } = await openAdmin(t, { role: 'admin', configuration });
  const headers = { 'idempotency-key': 'once-1' };
  const [one, two] = await Promise.all([
    ask('POST', '/api/keys', { name: 'a' }, headers),
    ask('POST', '/api/keys', { name: 'a' }, headers),
  ]);
  assert.deepEqual([one.status, one.json], [two.status, two.json]);
  const other = await ask('POST', '/api/keys', { name: 'b' }, headers);
  assert.deepEqual([other.status, other.json.code], [422, 'key_used_before']);
  assert.equal((await store.keys.list()).length, 1);
  become('owner');
  const owners = await ask('POST', '/api/keys', { name: 'a' }, headers);
  assert.equal(owners.status, 201);
  assert.notEqual(owners.json.secret, one.json.secret);
  const rotated = await ask('POST', `/api/keys/${one.json.id}/rotate`, {}, headers);
  const rotatedToo = await ask('POST', `/api/keys/${owners.json.id}/rotate`, {}, headers);
  assert.deepEqual([rotated.json.id, rotatedToo.json.id], [one.json.id, owners.json.id]);
});

test('an invalid field of a key is named, with the same message as for the configuration file', async (t) => {
  const { ask, store } = await openAdmin(t, { role: 'admin', configuration });
  const faultsOf = async (document: unknown) => {
    const { status, json } = await ask('POST', '/api/keys', document);
    assert.equal(status, 422, JSON.stringify(json));
    return Object.fromEntries(json.fields.map(({ path, message }: Record<string, string>) => [path, message]));
  };
  assert.match((await faultsOf({})).name, /is missing/);
  assert.match((await faultsOf({ name: '  ' })).name, /1 to 100 visible characters/);
  assert.match((await faultsOf({ name: 'a', modles: [] })).modles, /did you mean models\?/);
  assert.match((await faultsOf({ name: 'a', models: [] })).models, /at least one/);
  assert.match((await faultsOf({ name: 'a', models: ['m', 'a*b*'] }))['models[1]'], /more than one \*/);
  assert.match((await faultsOf({ name: 'a', operations: ['rerank', 'embedings'] }))['operations[1]'], /embeddings/);
  assert.match((await faultsOf({ name: 'a', addresses: ['10.0.0.0/99'] }))['addresses[0]'], /CIDR/);
  assert.match((await faultsOf({ name: 'a', expires: 'soon' })).expires, /a date/);
  assert.match((await faultsOf({ name: 'a', expires: '2020-01-01' })).expires, /not in the future/);
  assert.match((await faultsOf({ name: 'a', limits: { requests: 1 } }))['limits.requests'], /unknown key/);
  assert.match((await faultsOf({ name: 'a', limits: { concurrency: 0 } }))['limits.concurrency'], /whole number/);
  const twice = [
    { every: 'day', amount: 1 },
    { every: 'day', amount: 2 },
  ];
  assert.match((await faultsOf({ name: 'a', budgets: twice }))['budgets[1].every'], /same period/);
  assert.match(
    (await faultsOf({ name: 'a', budgets: [{ every: 'day', amount: '-1' }] }))['budgets[0].amount'],
    /amount/,
  );
  assert.match((await faultsOf({ name: 'a', project: 'serch' })).project, /did you mean search\?/);
  assert.match((await faultsOf({ name: 'a', metadata: { 'a b': 'x' } }))['metadata["a b"]'], /names of/);
  assert.match((await faultsOf({ name: 'a', capture: '7' })).capture, /a time with its unit/);
  const many = await faultsOf({ models: [], expires: '2020-01-01', project: 'nowhere' });
  assert.deepEqual(Object.keys(many).toSorted(), ['expires', 'models', 'name', 'project']);
  assert.deepEqual(await store.keys.list(), []);
});

test('of two concurrent changes to a key, the second gets a conflict that names who changed it', async (t) => {
  const { ask, become } = await openAdmin(t, { role: 'admin', configuration });
  const { json: made, headers } = await ask('POST', '/api/keys', { name: 'a', limits: { concurrency: 3 } });
  const path = `/api/keys/${made.id}`;
  const seen = { 'if-match': headers.get('etag') ?? '' };
  const first = await ask('PATCH', path, { name: 'b', budgets: [{ every: 'day', amount: 1 }] }, seen);
  assert.deepEqual([first.status, first.headers.get('etag')], [200, '"2"']);
  // Absent fields stay.
  assert.deepEqual(first.json.document.limits, { concurrency: 3 });
  become('owner');
  const second = await ask('PATCH', path, { name: 'c' }, seen);
  assert.deepEqual([second.status, second.json.code], [412, 'changed_meanwhile']);
  assert.match(
    second.json.detail,
    /^admin@example\.com changed the key key_\w+ at \d{4}-\d\d-\d\d \d\d:\d\d UTC; check/,
  );
  assert.equal(second.headers.get('etag'), '"2"');
  assert.equal((await ask('GET', path)).json.document.name, 'b');
  assert.equal((await ask('PATCH', path, { name: 'c' })).json.document.name, 'c');
});

test('null in a change removes a setting of a key, or is refused with the reason', async (t) => {
  const { ask } = await openAdmin(t, { role: 'admin', configuration });
  const { json: made } = await ask('POST', '/api/keys', {
    name: 'a',
    project: 'search',
    operations: ['rerank'],
    addresses: ['::1'],
    expires: '30d',
    limits: { concurrency: 3 },
    budgets: [{ every: 'day', amount: 1 }],
    metadata: { a: 'b' },
    capture: '1h',
  });
  const path = `/api/keys/${made.id}`;
  const fields = ['project', 'operations', 'addresses', 'expires', 'limits', 'budgets', 'metadata', 'capture'];
  const freed = await ask('PATCH', path, Object.fromEntries(fields.map((field) => [field, null])));
  assert.deepEqual(freed.json.document, { name: 'a', models: ['*'], limits: {}, budgets: [], metadata: {} });
  const refused = await ask('PATCH', path, { name: null, models: null });
  assert.deepEqual(
    refused.json.fields.map((fault: { path: string }) => fault.path),
    ['name', 'models'],
  );
});

test('a rotated key gets a new secret, and the former secret works for the given overlap', async (t) => {
  const { ask, store } = await openAdmin(t, { role: 'admin', configuration });
  const { json: made } = await ask('POST', '/api/keys', { name: 'a' });
  const rotated = await ask('POST', `/api/keys/${made.id}/rotate`, { overlap: '1h' });
  assert.equal(rotated.status, 200);
  assert.notEqual(rotated.json.secret, made.secret);
  assert.ok(Math.abs(Date.parse(rotated.json.oldSecretUntil) - Date.now() - 3_600_000) < 60_000);
  assert.equal((await store.keys.find(digestOf(made.secret)))?.id, made.id);
  const now = await ask('POST', `/api/keys/${made.id}/rotate`, { overlap: '0s' });
  assert.equal(now.json.oldSecretUntil, null);
  assert.equal(await store.keys.find(digestOf(rotated.json.secret)), undefined);
  assert.match((await ask('POST', `/api/keys/${made.id}/rotate`, { overlap: 'a day' })).json.fields[0].message, /24h/);
});

test('a revoked key stays revoked and gets no new secret', async (t) => {
  const { ask, store } = await openAdmin(t, { role: 'admin', configuration });
  const { json: made } = await ask('POST', '/api/keys', { name: 'a' });
  const revoked = await ask('POST', `/api/keys/${made.id}/revoke`);
  assert.deepEqual([revoked.status, revoked.json.state], [200, 'revoked']);
  assert.equal((await ask('POST', `/api/keys/${made.id}/revoke`)).json.revokedAt, revoked.json.revokedAt);
  const rotated = await ask('POST', `/api/keys/${made.id}/rotate`, {});
  assert.deepEqual([rotated.status, rotated.json.code], [409, 'has_ended']);
  assert.equal((await store.audit.page({ action: 'key.revoke', limit: 9 })).length, 1);
});

test('keys of the configuration file are shown with their location and cannot be changed through the API', async (t) => {
  const { ask, cwd } = await openAdmin(t, { role: 'admin', configuration });
  const { json } = await ask('GET', '/api/keys/dev');
  assert.deepEqual([json.managedBy, json.version, json.hint], ['file', null, null]);
  assert.deepEqual([json.place.file.startsWith(cwd), json.place.line], [true, 1]);
  assert.ok(!JSON.stringify(json).includes(fileKey.secret));
  const asked = [
    await ask('PATCH', '/api/keys/dev', { name: 'x' }),
    await ask('POST', '/api/keys/dev/rotate', {}),
    await ask('POST', '/api/keys/dev/revoke'),
  ];
  for (const { status, json: problem } of asked) {
    assert.deepEqual([status, problem.code], [409, 'managed_by_file']);
    assert.match(problem.detail, /postern\.yaml, line 1/);
  }
});

test('an unknown key ID is not repeated in the response, because it may be a secret', async (t) => {
  const { ask } = await openAdmin(t, { role: 'admin', configuration });
  const secret = 'pst_0123456789';
  const answers = [
    await ask('GET', `/api/keys/${secret}`),
    await ask('PATCH', `/api/keys/${secret}`, { name: 'x' }),
    await ask('POST', `/api/keys/${secret}/revoke`),
    await ask('GET', `/api/keys/${secret}/usage`),
  ];
  for (const { status, json } of answers) {
    assert.equal(status, 404);
    assert.ok(!JSON.stringify(json).includes(secret));
  }
});

test('the list of keys is paged without gaps, and filtered by name, note, project and state', async (t) => {
  const { ask } = await openAdmin(t, { role: 'admin', configuration });
  const made = [];
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    const parts = name === 'two' ? { project: 'search', metadata: { team: 'Rankers' } } : {};
    made.push((await ask('POST', '/api/keys', { name, ...parts })).json.id);
  }
  await ask('POST', `/api/keys/${made[4]}/revoke`);
  const seen: string[] = [];
  let before: string | null = null;
  do {
    const page = await ask('GET', `/api/keys?limit=2${before === null ? '' : `&before=${before}`}`);
    seen.push(...page.json.items.map(({ id }: { id: string }) => id));
    before = page.json.next;
    // One created meanwhile changes no page.
    if (before !== null) await ask('POST', '/api/keys', { name: 'late' });
  } while (before !== null);
  assert.equal(seen[0], 'dev');
  assert.deepEqual(new Set(seen), new Set(['dev', ...made]));
  assert.equal(seen.length, 6);
  const idsOf = async (query: string) =>
    (await ask('GET', `/api/keys?${query}`)).json.items.map(({ id }: { id: string }) => id);
  assert.deepEqual(await idsOf('q=TWO'), [made[1]]);
  assert.deepEqual(await idsOf('q=rankers'), [made[1]]);
  assert.deepEqual(await idsOf('project=search'), [made[1]]);
  assert.deepEqual(await idsOf('state=revoked'), [made[4]]);
  assert.deepEqual(await idsOf('managedBy=file'), ['dev']);
  assert.equal((await ask('GET', '/api/keys?before=nothing')).status, 422);
  assert.equal((await ask('GET', '/api/keys?state=gone')).status, 422);
});

test("the spending of a key is shown by day, beside its budget and the end of the budget's period", async (t) => {
  const { ask, store } = await openAdmin(t, { role: 'viewer', configuration });
  const nowMs = Date.now();
  const cost = (daysAgo: number, dollars: number) => ({
    row: ledgerRow({
      key: 'dev',
      project: 'search',
      startedAtMs: nowMs - daysAgo * dayMs,
      costNanos: dollars * 1_000_000_000,
    }),
    accounts: [],
  });
  await store.ledger.import('j', [cost(0, 2), cost(0, 1), cost(1, 4)], { segment: 1, offset: 1 });

  const { json: key } = await ask('GET', '/api/keys/dev');
  assert.deepEqual(
    key.budgets.map(({ every, amount, spent, outstanding, left }: Record<string, string>) => [
      every,
      amount,
      spent,
      outstanding,
      left,
    ]),
    [['day', '5', '3', '0', '2']],
  );
  assert.equal(key.lastUsedAt, new Date(nowMs).toISOString());

  const { json: usage } = await ask('GET', '/api/keys/dev/usage?days=3');
  assert.deepEqual(
    usage.days.map(({ requests, cost: dollars }: { requests: number; cost: string }) => [requests, dollars]),
    [
      [0, '0'],
      [1, '4'],
      [2, '3'],
    ],
  );
  assert.deepEqual([usage.total.requests, usage.total.cost], [3, '7']);

  const { json: burn } = await ask('GET', '/api/keys/dev/burn-down?period=day');
  assert.equal(burn.step, 'hour');
  assert.equal(burn.points[0].spent, '0');
  assert.equal(burn.points.at(-1).spent, '3');
  assert.ok(Number(burn.projected.atEnd) >= 3);

  const { json: total } = await ask('GET', '/api/projects/search/burn-down');
  assert.deepEqual([total.budget.spent, total.budget.endsAt, total.projected.atEnd], ['7', null, null]);
  assert.equal(total.points[0].spent, '0');
  assert.equal(total.points.at(-1).spent, '7');
  assert.equal((await ask('GET', '/api/keys/dev/burn-down?period=month')).status, 404);
  assert.equal((await ask('GET', '/api/keys/dev/usage?days=0')).status, 422);
});

test('projects are shown with their keys, and a project with keys cannot be removed', async (t) => {
  const { ask } = await openAdmin(t, { role: 'admin', configuration });
  const made = await ask('PUT', '/api/projects/rank', { name: 'Ranking' }, { 'if-none-match': '*' });
  assert.equal(made.status, 201, JSON.stringify(made.json));
  const key = (await ask('POST', '/api/keys', { name: 'a', project: 'rank' })).json;
  assert.equal((await ask('GET', '/api/projects/rank')).json.keys, 1);
  const refused = await ask('DELETE', '/api/projects/rank');
  assert.deepEqual([refused.status, refused.json.code], [409, 'in_use']);
  await ask('POST', `/api/keys/${key.id}/revoke`);
  assert.equal((await ask('DELETE', '/api/projects/rank')).status, 204);
  const { json } = await ask('GET', '/api/projects');
  assert.deepEqual(
    json.items.map(({ id, managedBy, keys }: Record<string, unknown>) => [id, managedBy, keys]),
    [['search', 'file', 0]],
  );
});

test('viewers and editors see keys but cannot change them', async (t) => {
  const { ask, become } = await openAdmin(t, { role: 'admin', configuration });
  const { json: key } = await ask('POST', '/api/keys', { name: 'a' });
  for (const role of ['viewer', 'editor'] as const) {
    become(role);
    assert.equal((await ask('GET', '/api/keys')).status, 200);
    assert.equal((await ask('GET', `/api/keys/${key.id}/usage`)).status, 200);
    const asked = [
      await ask('POST', '/api/keys', { name: 'b' }),
      await ask('PATCH', `/api/keys/${key.id}`, { name: 'b' }),
      await ask('POST', `/api/keys/${key.id}/rotate`, {}),
      await ask('POST', `/api/keys/${key.id}/revoke`),
      await ask('PUT', '/api/projects/p', {}, { 'if-none-match': '*' }),
      await ask('DELETE', '/api/projects/p'),
    ];
    assert.deepEqual(new Set(asked.map(({ status }) => status)), new Set([403]));
  }
});

test("a key's settings can be restored from an audit log entry, but not its secret or state", async (t) => {
  const { ask } = await openAdmin(t, { role: 'admin' });
  const first = { name: 'search', models: ['m-*'], limits: { requests_per_minute: 5 }, metadata: { team: 'search' } };
  const { json: made } = await ask('POST', '/api/keys', first);
  const changed = { name: 'other', models: ['*'], limits: null, metadata: null, lane: 'bulk', expires: '30d' };
  assert.equal((await ask('PATCH', `/api/keys/${made.id}`, changed)).status, 200);
  const [entry] = (await ask('GET', `/api/audit?subject=${made.id}&action=key.change`)).json.items;
  const restored = await ask('POST', `/api/keys/${made.id}/restore`, { entry: entry.id });
  assert.equal(restored.status, 200, JSON.stringify(restored.json));
  assert.deepEqual(restored.json.document, made.document);
  assert.equal(restored.json.hint, made.hint);
  const [created] = (await ask('GET', `/api/audit?subject=${made.id}&action=key.create`)).json.items;
  for (const absent of [created.id, '0'.repeat(32)]) {
    assert.equal((await ask('POST', `/api/keys/${made.id}/restore`, { entry: absent })).status, 404);
  }
});

test('keys are listed in the order of name, traffic, cost or last use, page by page', async (t) => {
  const { ask, store, context } = await openAdmin(t, { role: 'admin', configuration });
  const ids: Record<string, string> = { dev: 'dev' };
  for (const name of ['key 2', 'key 10', 'idle']) {
    ids[name] = (await ask('POST', '/api/keys', { name, models: ['m'] })).json.id;
  }
  const nowMs = context.clock.nowMs();
  const rowsOf = (name: string, count: number, more: Partial<LedgerRow>) =>
    Array.from({ length: count }, () => ({ row: ledgerRow({ key: ids[name] ?? '', ...more }), accounts: [] }));
  const rows = [
    ...rowsOf('key 2', 3, { startedAtMs: nowMs - 60_000, durationMs: 20, costNanos: 5_000 }),
    ...rowsOf('key 10', 2, { startedAtMs: nowMs - 7_200_000, durationMs: 900, costNanos: 9_000 }),
    ...rowsOf('dev', 1, { startedAtMs: nowMs - 3 * dayMs, durationMs: 5, costNanos: 1 }),
  ];
  await store.ledger.import('j', rows, { segment: 1, offset: 1 });
  const listed = async (query: string): Promise<string[]> => {
    const names: string[] = [];
    for (let before = ''; ; ) {
      const page = (await ask('GET', `/api/keys?limit=3&${query}${before === '' ? '' : `&before=${before}`}`)).json;
      for (const { id, document } of page.items) names.push(document.name ?? id);
      if (page.next === null) return names;
      before = page.next;
    }
  };
  assert.deepEqual(await listed('sort=name&direction=asc'), ['dev', 'idle', 'key 2', 'key 10']);
  assert.deepEqual(await listed('sort=name'), ['key 10', 'key 2', 'idle', 'dev']);
  assert.deepEqual((await listed('sort=requests')).slice(0, 2), ['key 2', 'key 10']);
  assert.deepEqual((await listed('sort=p95')).slice(0, 2), ['key 10', 'key 2']);
  assert.deepEqual((await listed('sort=cost')).slice(0, 2), ['key 10', 'key 2']);
  assert.deepEqual(await listed('sort=lastUsed'), ['key 2', 'key 10', 'dev', 'idle']);
  assert.deepEqual((await listed('sort=lastUsed&direction=asc'))[0], 'idle');
  const [first] = (await ask('GET', '/api/keys?sort=requests&limit=1')).json.items;
  assert.deepEqual([first.traffic.requests, first.traffic.cost], [3, '0.000015']);
  assert.equal(first.lastUsedAt, new Date(nowMs - 60_000).toISOString());
  assert.equal((await ask('GET', '/api/keys?sort=secret')).status, 422);
});
