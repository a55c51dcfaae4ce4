import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAdmin } from '../../../../test/support/console/admin.ts';
import { imported } from '../../../../test/support/ledger/ledger-rows.ts';

const minuteMs = 60_000;
/** On the minute, an hour ago. */
const atMs = Math.floor(Date.now() / minuteMs) * minuteMs - 60 * minuteMs;
const text = (ms: number): string => new Date(ms).toISOString();

async function open(t: Parameters<typeof openAdmin>[0]) {
  const admin = await openAdmin(t, { role: 'viewer' });
  await admin.store.ledger.import(
    'j',
    [
      imported({ startedAtMs: atMs, key: 'a', model: 'm-1', costNanos: 500_000_000, durationMs: 100 }),
      imported({ startedAtMs: atMs + minuteMs, key: 'b', model: 'm-1', costNanos: null, durationMs: 200 }),
      imported({ startedAtMs: atMs, key: 'a', model: 'm-2', outcome: 'error', status: 503, durationMs: 300 }),
      imported({ startedAtMs: atMs, key: 'a', outcome: 'refused', status: 429, error: 'budget_exceeded', attempts: 0 }),
      imported({ startedAtMs: atMs - 10 * minuteMs, key: 'a', model: 'm-1', durationMs: 50 }),
    ],
    { segment: 1, offset: 1 },
  );
  return admin;
}

const range = `from=${text(atMs)}&to=${text(atMs + 5 * minuteMs)}`;

test('counts failed, refused and succeeded requests separately, and leaves refused ones out of percentiles', async (t) => {
  const { ask } = await open(t);
  const { status, json } = await ask('GET', `/api/series?${range}`);
  assert.equal(status, 200);
  const { figures, points } = json.total;
  assert.deepEqual(
    [figures.requests, figures.succeeded, figures.failed, figures.refused, figures.cost, figures.unpriced],
    [4, 2, 1, 1, '0.500002', 1],
  );
  assert.equal(figures.duration.count, 3);
  assert.ok(Math.abs(figures.duration.p95 - 300) <= 3);
  assert.deepEqual(
    [points.requests, points.refused],
    [
      [3, 1, 0, 0, 0],
      [1, 0, 0, 0, 0],
    ],
  );
  assert.deepEqual(
    json.times,
    [0, 1, 2, 3, 4].map((minute) => text(atMs + minute * minuteMs)),
  );
  assert.deepEqual(json.codes, [
    { code: '503', outcome: 'error', requests: 1 },
    { code: 'budget_exceeded', outcome: 'refused', requests: 1 },
  ]);
  assert.equal(json.since, null);
});

test('spending of today against daily budgets counts only keys that have such a budget', async (t) => {
  const budgets = [{ every: 'day', amount: '2' }];
  const secret = 'key-of-a-test-with-enough-characters';
  const { ask, store, context } = await openAdmin(t, {
    role: 'viewer',
    configuration: {
      keys: [
        { id: 'a', secret, budgets },
        { id: 'b', secret: `${secret}-b` },
      ],
    },
  });
  const rowOf = (key: string, costNanos: number) => imported({ startedAtMs: context.clock.nowMs(), key, costNanos });
  await store.ledger.import('j', [rowOf('a', 500_000_000), rowOf('b', 7_000_000_000)], { segment: 1, offset: 1 });
  const { cost, budget, budgetSpent } = (await ask('GET', '/api/now')).json.today;
  assert.deepEqual([cost, budgetSpent, budget], ['7.5', '0.5', '2']);
});

test('time series can be filtered, split by several fields, and sorted', async (t) => {
  const { ask } = await open(t);
  const { json } = await ask('GET', `/api/series?${range}&key=a&by=model,outcome&order=failed&outcome=failed`);
  assert.deepEqual(
    json.lines.map(({ by, figures }: { by: object; figures: { requests: number } }) => [by, figures.requests]),
    [[{ model: 'm-2', outcome: 'error' }, 1]],
  );
  const code = await ask('GET', `/api/series?${range}&code=budget_exceeded`);
  assert.equal(code.json.total.figures.requests, 1);
});

test('time series are compared with the previous interval step by step', async (t) => {
  const { ask } = await open(t);
  const from = text(atMs - 5 * minuteMs);
  const { json } = await ask('GET', `/api/series?from=${from}&to=${text(atMs + 5 * minuteMs)}&compare=before&by=model`);
  assert.deepEqual([json.comparison.from, json.comparison.to], [text(atMs - 15 * minuteMs), from]);
  assert.equal(json.comparison.isCovered, true);
  assert.equal(json.comparison.figures.requests, 1);
  assert.equal(json.comparison.points.requests.length, json.times.length);
  assert.equal(json.comparison.points.requests[5], 1);
  const [first] = json.comparison.lines;
  assert.deepEqual([first.by, first.figures.requests], [{ model: 'm-1' }, 1]);
});

test('a latency heat map has each measured request in exactly one row', async (t) => {
  const { ask } = await open(t);
  const { json } = await ask('GET', `/api/series?${range}&heatmap=true`);
  const { bounds, counts } = json.heatmap;
  assert.equal(counts.length, 5);
  assert.equal(
    counts.flat().reduce((sum: number, count: number) => sum + count, 0),
    3,
  );
  assert.ok(bounds.at(-1) >= 297 && bounds.length <= 31);
});

test('refuses an invalid time series query and names the parameter', async (t) => {
  const { ask } = await open(t);
  for (const [query, path] of [
    ['by=model,key,project', 'by'],
    ['by=colour', 'by'],
    ['step=1m&from=2027-01-01&to=2027-01-04', 'step'],
    [`from=${text(atMs)}&to=${text(atMs)}`, 'from'],
    ['latency=cost', 'latency'],
  ] as const) {
    const { status, json } = await ask('GET', `/api/series?${query}`);
    assert.equal(status, 422, query);
    assert.deepEqual(
      json.fields.map((field: { path: string }) => field.path),
      [path],
      query,
    );
  }
});

test('an upstream without calls in the interval stays healthy, even if one of its models was never called', async (t) => {
  const { ask, store } = await openAdmin(t, {
    configuration: {
      upstreams: [{ id: 'up', family: 'openai', base_url: 'http://127.0.0.1:9/v1' }],
      models: ['never', 'called'].map((id) => ({ id, operations: ['embeddings'], targets: [{ upstream: 'up' }] })),
    },
  });
  const same = { upstream: 'up', state: 'healthy', restsForMs: 0, why: undefined, inFlight: 0, waiting: 0 } as const;
  const states = ['never', 'called'].map((model) => ({
    ...{ ...same, model, latencyMs: 0, calls: 0, failedCalls: 0, restingCredentials: [] },
    isKnown: model === 'called',
  }));
  await store.health.report('one', states);
  const { json } = await ask('GET', '/api/now');
  assert.deepEqual(
    json.upstreams.map(({ state, targets }: { state: string; targets: object }) => [state, targets]),
    [['healthy', { healthy: 1, untested: 1 }]],
  );
});
