/** Limits, budgets, prices and the ledger as clients and operators meet them: one request after another through the whole setup. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { LedgerRow } from '../../src/core/accounting/ledger-row.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const answer = { object: 'list', data: [{}, {}, {}], usage: { prompt_tokens: 1_000, total_tokens: 1_000 } };
const question = { model: 'm', input: ['a', 'b', 'c'] };

interface Wanted {
  readonly key?: object;
  readonly model?: object;
  readonly upstream?: object;
  readonly more?: object;
  readonly script?: Script;
}

async function startSetup(t: TestContext, wanted: Wanted): Promise<{ rig: Rig; up: FakeUpstream }> {
  const up = await startFakeUpstream(wanted.script ?? ((_request, reply) => reply.json(200, answer)));
  t.after(() => up.close());
  const rig = await startRig(t, {
    upstreams: [
      { id: 'up', family: 'openai', base_url: up.url, api_key: 'sk-upstream-credential', ...wanted.upstream },
    ],
    models: [
      {
        id: 'm',
        operations: ['embeddings', 'completions'],
        price: { input: 2 },
        targets: [{ upstream: 'up' }],
        ...wanted.model,
      },
    ],
    keys: [{ id: 'test', secret: testKey, ...wanted.key }],
    ...wanted.more,
  });
  return { rig, up };
}

async function rowsOf(rig: Rig, count: number): Promise<readonly LedgerRow[]> {
  for (;;) {
    const { rows } = await rig.store.ledger.page({}, { limit: 100 });
    if (rows.length >= count) return rows;
    await wait(20);
  }
}

test("a request's ledger row has its IDs, key, route, model, outcome, tokens, cost and sizes", async (t) => {
  const { rig, up } = await startSetup(t, {});
  const response = await rig.post('/v1/embeddings', question, {
    headers: [
      ['Authorization', `Bearer ${testKey}`],
      ['X-Request-Id', 'mine-1'],
    ],
  });
  assert.equal(response.status, 200);
  const [row] = await rowsOf(rig, 1);
  assert.equal(row?.id, up.requests[0]?.header('x-request-id'));
  assert.equal(row?.clientRequestId, 'mine-1');
  assert.deepEqual(
    [row?.key, row?.route, row?.operation, row?.model, row?.upstream, row?.upstreamModel, row?.outcome, row?.status],
    ['test', '/v1/embeddings', 'embeddings', 'm', 'up', 'm', 'ok', 200],
  );
  // 1,000 tokens at 2 dollars a million.
  assert.deepEqual(
    [row?.promptTokens, row?.billedInputTokens, row?.costNanos, row?.isEstimated, row?.items],
    [1_000, 1_000, 2_000_000, false, 3],
  );
  assert.equal(row?.requestBytes, JSON.stringify(question).length);
  assert.equal(row?.responseBytes, response.body.length);
  assert.equal(row?.clientAddress, null);
});

test('a request limit is enforced, shown in headers, and named when reached', async (t) => {
  const { rig, up } = await startSetup(t, { key: { limits: { requests_per_minute: 2 } } });
  const first = await rig.post('/v1/embeddings', question);
  assert.equal(first.header('x-ratelimit-limit-requests'), '2');
  assert.equal(first.header('x-ratelimit-remaining-requests'), '1');
  await rig.post('/v1/embeddings', question);
  const third = await rig.post('/v1/embeddings', question);
  assertError(third, 'rate_limit_exceeded', { message: /2 requests a minute.*"test"/ });
  assert.match(third.header('retry-after') ?? '', /^\d+$/);
  assert.equal(third.header('x-ratelimit-remaining-requests'), '0');
  assert.equal(up.requests.length, 2);
  const rows = await rowsOf(rig, 3);
  assert.deepEqual(
    rows.map(({ outcome, status, costNanos }) => [outcome, status, costNanos]),
    [
      ['refused', 429, 0],
      ['ok', 200, 2_000_000],
      ['ok', 200, 2_000_000],
    ],
  );
});

test("tokens are settled with the upstream's count", async (t) => {
  const { rig } = await startSetup(t, { key: { limits: { tokens_per_minute: 1_500 } } });
  await rig.post('/v1/embeddings', question);
  const second = await rig.post('/v1/embeddings', question);
  // 500 are left after the first, and the second was estimated at far less.
  assert.equal(second.status, 200);
  assertError(await rig.post('/v1/embeddings', question), 'rate_limit_exceeded');
});

test('the refusal of a request above the limit itself advises to split it', async (t) => {
  const { rig } = await startSetup(t, { key: { limits: { items_per_minute: 2 } } });
  const refused = await rig.post('/v1/embeddings', question);
  assertError(refused, 'rate_limit_exceeded');
  assert.equal(refused.header('retry-after'), undefined);
  assert.equal(refused.header('x-should-retry'), 'false');
});

test('request limits of project, key and upstream apply together, and the smallest refuses with 429', async (t) => {
  const { rig, up } = await startSetup(t, {
    key: { project: 'search', limits: { requests_per_minute: 10 } },
    upstream: { limits: { requests_per_minute: 3 } },
    more: { projects: [{ id: 'search', limits: { requests_per_day: 5 } }] },
  });
  const statuses = [];
  for (let i = 0; i < 6; i++) statuses.push((await rig.post('/v1/embeddings', question)).status);
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429]);
  assert.equal(up.requests.length, 3);
});

test('a budget is spent completely and no further, and the error gives its reset', async (t) => {
  // Each costs 2,000,000 nano-dollars in truth; the worst case is a token a byte.
  const { rig, up } = await startSetup(t, { key: { budgets: [{ every: 'day', amount: '0.005' }] } });
  assert.equal((await rig.post('/v1/embeddings', question)).status, 200);
  assert.equal((await rig.post('/v1/embeddings', question)).status, 200);
  assert.equal((await rig.post('/v1/embeddings', question)).status, 200);
  const refused = await rig.post('/v1/embeddings', question);
  assertError(refused, 'budget_exceeded', { message: /"test"/ });
  assert.equal(refused.header('x-should-retry'), 'false');
  assert.equal(up.requests.length, 3);
});

test('an unpriced model passes any budget, and its rows have no cost', async (t) => {
  const { rig } = await startSetup(t, {
    model: { price: 'unknown' },
    key: { budgets: [{ every: 'total', amount: '0.000000001' }] },
  });
  assert.equal((await rig.post('/v1/embeddings', question)).status, 200);
  const [row] = await rowsOf(rig, 1);
  assert.equal(row?.costNanos, null);
});

test('an upstream error costs nothing', async (t) => {
  const { rig } = await startSetup(t, {
    script: (_request, reply) => reply.json(400, { error: { message: 'no' } }),
    key: { budgets: [{ every: 'day', amount: 1 }] },
  });
  await rig.post('/v1/embeddings', question);
  const [row] = await rowsOf(rig, 1);
  assert.deepEqual([row?.outcome, row?.costNanos], ['error', 0]);
});

test("with the upstream's own budget spent and no other target, budget_exceeded is returned at once", async (t) => {
  const { rig, up } = await startSetup(t, { upstream: { budgets: [{ every: 'month', amount: '0.000001' }] } });
  const refused = await rig.post('/v1/embeddings', question);
  assertError(refused, 'budget_exceeded', { message: /upstream "up"/ });
  assert.equal(refused.header('x-should-retry'), 'false');
  assert.equal(up.requests.length, 0);
});
