import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { imported } from '../../../../test/support/ledger/ledger-rows.ts';
import { getUsage } from './ledger.ts';

const dayMs = 86_400_000;
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;

async function open(t: Parameters<typeof openAdmin>[0]) {
  const admin = await openAdmin(t, { role: 'viewer' });
  await admin.store.ledger.import(
    'j',
    [
      imported({ startedAtMs: todayMs, key: 'a', costNanos: 500_000_000 }),
      imported({ startedAtMs: todayMs, key: 'b', costNanos: null, project: 'p' }),
      imported({ startedAtMs: todayMs - dayMs, key: 'a', costNanos: 250_000_001, outcome: 'error', status: 502 }),
    ],
    { segment: 1, offset: 1 },
  );
  return admin;
}

test('usage is grouped by the requested fields, with a total, and unpriced requests are counted separately', async (t) => {
  const { ask } = await open(t);
  const { status, json } = await ask('GET', '/api/usage?by=key');
  assert.equal(status, 200);
  assert.deepEqual(
    json.lines.map(({ by, requests, errors, cost, unpriced }: Record<string, unknown>) => [
      by,
      requests,
      errors,
      cost,
      unpriced,
    ]),
    [
      [{ key: 'a' }, 2, 1, '0.750000001', 0],
      [{ key: 'b' }, 1, 0, '0', 1],
    ],
  );
  assert.deepEqual([json.total.requests, json.total.cost, json.total.unpriced], [3, '0.750000001', 1]);
  const byDay = await ask('GET', '/api/usage');
  assert.equal(byDay.json.lines.length, 2);
  const byTwo = await ask('GET', '/api/usage?by=day,project&key=b');
  assert.deepEqual(byTwo.json.lines[0].by, { day: new Date(todayMs).toISOString().slice(0, 10), project: 'p' });
});

test('the usage report names the price lists in use, with their dates', async (t) => {
  const configuration = {
    upstreams: [
      { id: 'openai', family: 'openai', api_key: 'sk-0123456789' },
      { id: 'voyage', family: 'voyage', api_key: 'pa-0123456789' },
    ],
    models: [
      { id: 'text-embedding-3-small', operations: ['embeddings'], targets: [{ upstream: 'openai' }] },
      { id: 'voyage-4', operations: ['embeddings'], targets: [{ upstream: 'voyage' }] },
      { id: 'voyage-3.5', operations: ['embeddings'], targets: [{ upstream: 'voyage' }], price: 'free' },
    ],
  };
  const { ask } = await openAdmin(t, { role: 'viewer', configuration });
  assert.deepEqual((await ask('GET', '/api/usage')).json.prices, [
    { source: 'table', asOf: '2025-11-01', models: 1 },
    { source: 'table', asOf: '2026-05-01', models: 1 },
  ]);
});

test('grouping usage by project gives null, not an empty text, for requests without a project', async (t) => {
  const { ask } = await open(t);
  const { json } = await ask('GET', '/api/usage?by=project');
  assert.deepEqual(
    json.lines.map(({ by }: { by: { project: unknown } }) => by.project),
    [null, 'p'],
  );
});

test('usage as CSV has one line per group', async (t) => {
  const { context } = await open(t);
  assert.ok(getUsage);
  const query = { by: ['key'], format: 'csv' } as const;
  const answer = await getUsage.run({ query: { ...query, by: ['key'] }, context } as never);
  assert.ok(answer instanceof Response);
  assert.match(await answer.text(), /^key,requests,errors,.*\r\na,2,1,/);
});

test('usage includes units such as images and tool calls, in CSV with a column each', async (t) => {
  const { ask, context, store } = await open(t);
  const units = { images: 2, toolCalls: { web_search: 3, code: 1 } };
  await store.ledger.import('k', [imported({ startedAtMs: todayMs, key: 'b', units, cachedTokens: 4 })], {
    segment: 1,
    offset: 1,
  });
  const { json } = await ask('GET', '/api/usage?by=key');
  const counted = { cachedTokens: 4, ...units };
  assert.deepEqual(
    json.lines.map((line: { units: unknown }) => line.units),
    [{}, counted],
  );
  assert.deepEqual(json.total.units, counted);
  const csv = await getUsage.run({ query: { by: ['key'], format: 'csv' }, context } as never);
  assert.ok(csv instanceof Response);
  const [head = [], ...rows] = (await csv.text()).split('\r\n').map((line) => line.split(','));
  const column = (name: string) => rows.slice(0, 2).map((row) => row[head.indexOf(name)]);
  assert.deepEqual(['cachedTokens', 'images', 'toolCalls', 'savedNanos'].map(column), [
    ['0', '4'],
    ['0', '2'],
    ['0', '4'],
    ['0', '0'],
  ]);
});

test('an invalid group or filter is refused and the error names the parameter', async (t) => {
  const { ask } = await open(t);
  const rows: [query: string, field: string][] = [
    ['by=colour', 'by'],
    ['by=key,,day', 'by'],
    ['by=hour&from=2020-01-01', 'by'],
    ['from=2026-11-21&to=2026-11-01', 'from'],
    ['status=200', 'status'],
    ['format=xml', 'format'],
  ];
  for (const [query, field] of rows) {
    const { status, json } = await ask('GET', `/api/usage?${query}`);
    assert.deepEqual([status, json.fields?.[0]?.path], [422, field], query);
  }
});
