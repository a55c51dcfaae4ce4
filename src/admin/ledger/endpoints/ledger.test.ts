import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { imported, rowId } from '../../../../test/support/ledger/ledger-rows.ts';
import type { LedgerRow } from '../../../core/accounting/ledger-row.ts';
import { exportRows } from '../query.ts';

const atMs = Date.UTC(2026, 10, 20, 12);
const at = (number: number) => ({ id: rowId(atMs + number, number), startedAtMs: atMs + number });

async function open(t: TestContext, rows: readonly Partial<LedgerRow>[] = []) {
  const admin = await openAdmin(t, { role: 'viewer' });
  await admin.store.ledger.import(
    'j',
    rows.map((row) => imported(row)),
    { segment: 1, offset: 1 },
  );
  return admin;
}

const idsIn = (json: { items: { id: string }[] }): string[] => json.items.map(({ id }) => id);

test('pages of the ledger continue without gaps, newest row first', async (t) => {
  const { ask } = await open(t, [1, 2, 3, 4, 5].map(at));
  const first = await ask('GET', '/api/ledger?limit=2');
  assert.equal(first.status, 200);
  assert.deepEqual(idsIn(first.json), [at(5).id, at(4).id]);
  const second = await ask('GET', `/api/ledger?limit=2&before=${first.json.next}`);
  const last = await ask('GET', `/api/ledger?limit=2&before=${second.json.next}`);
  assert.deepEqual([...idsIn(second.json), ...idsIn(last.json)], [at(3).id, at(2).id, at(1).id]);
  assert.equal(last.json.next, null);
});

test('a row has times as text, its exact cost, and null for an unknown cost', async (t) => {
  const { ask } = await open(t, [
    { ...at(1), costNanos: 1_234_567_891 },
    { ...at(2), costNanos: null },
  ]);
  const { json } = await ask('GET', '/api/ledger');
  assert.deepEqual(
    [json.items[1].startedAt, json.items[1].cost, json.items[0].cost],
    ['2026-11-20T12:00:00.001Z', '1.234567891', null],
  );
  assert.equal('tries' in json.items[0], false);
});

test('filters of ledger rows can be combined', async (t) => {
  const odd = {
    ...at(9),
    key: 'k',
    project: 'p',
    model: 'BAAI/bge-m3',
    upstream: 'far',
    operation: 'rerank',
    outcome: 'error',
    status: 502,
    clientRequestId: '50%_mine',
  } as const;
  const { ask } = await open(t, [at(1), odd, at(3)]);
  const filters = [
    'key=k',
    'project=p',
    'model=BAAI%2Fbge-m3',
    'upstream=far',
    'operation=rerank',
    'outcome=error',
    'status=502',
    'clientRequestId=50%25_mine',
    `id=${odd.id}`,
    `id=${odd.id.toUpperCase()}`,
    `from=2026-11-20T12:00:00.009Z&to=2026-11-20T12:00:00.010Z`,
    `key=k&status=502&id=${odd.id.slice(0, 12)}&from=2026-11-20&to=2026-11-20`,
  ];
  for (const filter of filters)
    assert.deepEqual(idsIn((await ask('GET', `/api/ledger?${filter}`)).json), [odd.id], filter);
  for (const filter of ['key=K', 'clientRequestId=%25', `id=${odd.id}&key=other`, 'to=2026-11-19', 'id=ffff']) {
    assert.deepEqual(idsIn((await ask('GET', `/api/ledger?${filter}`)).json), [], filter);
  }
  const alike = await ask('GET', `/api/ledger?id=${odd.id.slice(0, 6)}&limit=2`);
  assert.deepEqual(idsIn(alike.json), [odd.id, at(3).id]);
  assert.notEqual(alike.json.next, null);
});

test('ledger rows can be filtered by duration, cost, error code, cache and key tag, page by page', async (t) => {
  const failed = { outcome: 'error', status: 504, error: 'timeout' } as const;
  const slow = { ...at(5), ...failed, durationMs: 900, costNanos: 50_000_000, cache: 'hit' };
  const rows = Array.from({ length: 1_500 }, (_, index) => ({ ...at(100 + index), durationMs: 10 }));
  const { ask, context, become } = await open(t, [{ ...at(1), durationMs: 800, costNanos: null }, slow, ...rows]);
  become('admin');
  const tagged = (await ask('POST', '/api/keys', { name: 'eu', metadata: { team: 'search:eu' } })).json;
  await context.store.ledger.import('k', [imported({ ...at(6), key: tagged.id })], { segment: 1, offset: 1 });
  const cases: [query: string, ids: string[]][] = [
    ['minDurationMs=500', [slow.id, at(1).id]],
    ['minDurationMs=500&minCost=0.05', [slow.id]],
    ['code=timeout', [slow.id]],
    ['cache=hit', [slow.id]],
    ['tag=team%3Asearch%3Aeu', [at(6).id]],
    ['tag=team%3Aother', []],
  ];
  for (const [query, ids] of cases) {
    assert.deepEqual(idsIn((await ask('GET', `/api/ledger?${query}`)).json), ids, query);
  }
  assert.equal((await ask('GET', '/api/ledger/export?format=ndjson&code=timeout')).json.id, slow.id);
  const first = (await ask('GET', '/api/ledger?minDurationMs=500&limit=1')).json;
  assert.deepEqual(idsIn(first), [slow.id]);
  const second = (await ask('GET', `/api/ledger?minDurationMs=500&limit=1&before=${first.next}`)).json;
  assert.deepEqual([idsIn(second), second.next], [[at(1).id], null]);
});

test('an invalid cursor, time, number or filter is refused and the error names the parameter', async (t) => {
  const { ask } = await open(t);
  const rows: [query: string, field: string][] = [
    ['before=abc', 'before'],
    [`before=${'F'.repeat(32)}`, 'before'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=1e9', 'limit'],
    ['limit=1.5', 'limit'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['from=1969-12-31', 'from'],
    ['to=2026-11-20T25:00Z', 'to'],
    ['to=%2B275760-09-13', 'to'],
    ['from=2026-11-21&to=2026-11-20', 'from'],
    ['operation=talk', 'operation'],
    ['outcome=good', 'outcome'],
    ['status=9999999999999', 'status'],
    ['status=600', 'status'],
    ['status=-1', 'status'],
    ['id=xyz', 'id'],
    ['minCost=cheap', 'minCost'],
    ['minDurationMs=-1', 'minDurationMs'],
    ['tag=team', 'tag'],
    [`model=${'m'.repeat(257)}`, 'model'],
    ['modle=bge-m3', 'modle'],
  ];
  for (const [query, field] of rows) {
    const { status, json } = await ask('GET', `/api/ledger?${query}`);
    assert.deepEqual([status, json.fields?.[0]?.path], [422, field], query);
  }
  assert.equal((await ask('GET', '/api/ledger/not-an-id')).status, 422);
});

test('one request is returned with its upstream calls, and whether its bodies were captured', async (t) => {
  const tries = [
    { upstream: 'near', model: 'm', credential: undefined, outcome: 'not-sent', detail: 'ECONNREFUSED', durationMs: 1 },
    { upstream: 'far', model: 'm', credential: 'key 2', outcome: 'answered', detail: 200, durationMs: 11 },
  ];
  const { ask } = await open(t, [{ ...at(1), tries, attempts: 2 }]);
  const { status, json } = await ask('GET', `/api/ledger/${at(1).id}`);
  assert.deepEqual([status, json.hasCapture, json.tries.length], [200, false, 2]);
  assert.deepEqual([json.tries[0].credential, json.tries[0].detail, json.tries[1].detail], [null, 'ECONNREFUSED', 200]);
  assert.equal((await ask('GET', `/api/ledger/${at(2).id}`)).status, 404);
});

test('a request with a trace ID has a link made from the configured trace_url', async (t) => {
  const traced = { ...at(1), traceId: '0af7651916cd43dd8448eb211c80319c' };
  const { ask, store } = await openAdmin(t, {
    configuration: { console: { trace_url: 'https://traces.example/t/{trace_id}?from=postern' } },
  });
  await store.ledger.import('j', [imported(traced), imported(at(2))], { segment: 1, offset: 1 });
  const urls = [at(1), at(2)].map(async ({ id }) => (await ask('GET', `/api/ledger/${id}`)).json.traceUrl);
  assert.deepEqual(await Promise.all(urls), [
    'https://traces.example/t/0af7651916cd43dd8448eb211c80319c?from=postern',
    null,
  ]);
});

test('only admins may read captured bodies, and each reading is written to the audit log', async (t) => {
  const { ask, become, store } = await open(t);
  const capture = { request: '{"input":"secret plans"}', response: '{}', expiresAtMs: Date.now() + 60_000 };
  await store.ledger.import('j', [{ ...imported(at(1)), capture }], { segment: 1, offset: 2 });
  const path = `/api/ledger/${at(1).id}`;
  assert.equal((await ask('GET', path)).json.hasCapture, true);
  for (const role of ['viewer', 'editor'] as const) {
    become(role);
    assert.equal((await ask('GET', `${path}/capture`)).status, 403);
  }
  become('admin');
  const { status, json } = await ask('GET', `${path}/capture`);
  assert.deepEqual([status, json.request], [200, capture.request]);
  assert.equal((await ask('GET', `/api/ledger/${at(2).id}/capture`)).status, 404);
  const entries = await store.audit.page({ limit: 10 });
  assert.deepEqual(
    entries.map(({ actor, action, subject }) => [actor, action, subject]),
    [['console: admin@example.com', 'capture.read', at(1).id]],
  );
  assert.doesNotMatch(JSON.stringify(entries), /secret plans/);
});

test('exports filtered ledger rows as CSV that is safe in spreadsheets, or as JSON lines', async (t) => {
  const evil = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx'];
  const { context } = await open(t, [
    ...evil.map((model, index) => ({ ...at(index), model, key: 'k' })),
    { ...at(20), model: 'a "b", c', key: 'k' },
    at(30),
  ]);
  const csv = await exportRows(context.store.ledger, { key: 'k' }, { format: 'csv' }).text();
  const [head = '', ...lines] = csv.trimEnd().split('\r\n');
  assert.ok(head.startsWith('id,clientRequestId,startedAt,'));
  assert.equal(lines.length, 7);
  for (const model of evil.filter((text) => !text.includes('\r'))) assert.ok(csv.includes(`,'${model},`), model);
  assert.ok(csv.includes(`,"'\rx",`) && csv.includes(',"a ""b"", c",'));
  assert.ok(!csv.includes(at(30).id));
  const rows = (await exportRows(context.store.ledger, {}, { format: 'ndjson' }).text()).trimEnd().split('\n');
  assert.deepEqual([rows.length, JSON.parse(rows[0] ?? '').id], [8, at(30).id]);
});

test('an export is read page by page, and states when it stopped at its limit', async (t) => {
  const { context } = await open(
    t,
    Array.from({ length: 1_200 }, (_, index) => at(index)),
  );
  let pages = 0;
  const counted: typeof context.store.ledger = {
    ...context.store.ledger,
    page: (...options) => {
      pages += 1;
      return context.store.ledger.page(...options);
    },
  };
  const reader = exportRows(counted, {}, { format: 'ndjson' }).body?.getReader();
  await reader?.read();
  assert.ok(pages <= 2, `${pages} pages`);
  await reader?.cancel();
  const text = await exportRows(counted, {}, { format: 'ndjson', most: 1_000 }).text();
  const lines = text.trimEnd().split('\n');
  assert.equal(lines.length, 1_001);
  assert.match(lines[1_000] ?? '', /"cut":"There are more rows/);
  const all = await exportRows(counted, {}, { format: 'csv', most: 1_200 }).text();
  assert.equal(all.trimEnd().split('\r\n').length, 1_201);
});

test("the live tail of the ledger sends each row as an event with the row's ID", async (t) => {
  const { store, context } = await open(t, [at(1)]);
  const { createAdminApi } = await import('../../api/api.ts');
  const { endpoints } = await import('../../endpoints.ts');
  const api = createAdminApi(endpoints, context);
  const request = new Request('http://127.0.0.1:4001/api/ledger/tail?key=dev', {
    headers: { host: '127.0.0.1:4001' },
  });
  const response = await api.fetch(request, { address: '127.0.0.1' });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const readUntil = async (wanted: string): Promise<void> => {
    while (!text.includes(wanted)) text += (await reader?.read())?.value ?? '';
  };
  await readUntil('event: ready');
  await store.ledger.import('j', [imported(at(2)), imported({ ...at(3), key: 'x' })], { segment: 1, offset: 3 });
  await readUntil(`event: row\nid: ${at(2).id}\ndata: {`);
  assert.ok(!text.includes(at(3).id));
  await reader?.cancel();
  assert.equal(context.streams.size, 0);
});

test('filter choices are the configured models, upstreams and projects, and the keys of file and store', async (t) => {
  const { ask, store } = await openAdmin(t, {
    role: 'viewer',
    configuration: {
      upstreams: [{ id: 'local', family: 'local' }],
      models: [{ id: 'bm25', operations: ['rerank'], targets: [{ upstream: 'local', model: 'local/bm25' }] }],
      keys: [{ id: 'dev', secret: 'a-secret-of-sixteen-and-more' }],
      projects: [{ id: 'search', name: 'Search team' }],
    },
  });
  const { id } = await store.keys.create({ name: 'Nightly', digest: 'd'.repeat(64), hint: 'pst_', models: ['*'] });
  const { status, json } = await ask('GET', '/api/ledger/choices');
  assert.equal(status, 200);
  assert.deepEqual(json, {
    keys: [
      { id, name: 'Nightly' },
      { id: 'dev', name: 'dev' },
    ],
    projects: [{ id: 'search', name: 'Search team' }],
    models: ['bm25', 'local/hash-embed', 'local/bm25', 'local/wordlist', 'local/echo'],
    upstreams: ['local'],
  });
});
