/** At a busy upstream interactive calls go before bulk calls, and keys and projects take turns. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { atOnce } from '../../src/lib/time-slices.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { startRig } from '../support/gateways/rig.ts';
import { until } from '../support/time/until.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const secretOf = (key: string): string => `the-secret-of-the-key-${key}`;

/** One call at a time, which is answered when the test decides. */
async function setUp(t: TestContext, more: Readonly<Record<string, unknown>> = {}, keys = standardKeys) {
  const waiting: (() => void)[] = [];
  const script: Handler = async (_request, reply) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    await reply.json(200, { data: [{ embedding: [1], index: 0 }], usage: { prompt_tokens: 1, total_tokens: 1 } });
  };
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const document = toDocument(upstream.url, { limits: { concurrency: 1, queue: 100 } }, {}, more);
  const rig = await startRig(t, { ...document, server: {}, keys });
  const waitingIn = (): number => atOnce(rig.app.targets())[0]?.waiting ?? 0;
  const answers: Promise<{ readonly status: number; header(name: string): string | undefined }>[] = [];
  return {
    rig,
    upstream,
    answers,
    /** Sends a request, and waits until it has come as far as it comes for now. */
    async ask(input: string, key: string, lane?: string): Promise<void> {
      const headers: [string, string][] = [
        ['Authorization', `Bearer ${secretOf(key)}`],
        ['Content-Type', 'application/json'],
      ];
      if (lane !== undefined) headers.push(['x-postern-lane', lane]);
      const answer = rig.post('/v1/embeddings', `{"model":"m","input":"${input}"}`, { headers });
      answers.push(answer);
      if (answers.length === 1) await upstream.nextRequest();
      await until(() => waitingIn() >= answers.length - 1);
    },
    /** What was asked of the upstream, in order, once all is answered. */
    async order(): Promise<string[]> {
      for (let count = 1; count < answers.length; count += 1) {
        waiting.shift()?.();
        await upstream.nextRequest();
      }
      waiting.shift()?.();
      for (const { status } of await Promise.all(answers)) assert.equal(status, 200);
      return upstream.requests.map(({ body }) => JSON.parse(body.toString()).input);
    },
  };
}

const standardKeys: readonly Readonly<Record<string, unknown>>[] = [
  { id: 'search', secret: secretOf('search') },
  { id: 'index', secret: secretOf('index'), lane: 'bulk' },
  { id: 'both', secret: secretOf('both'), lane: 'interactive' },
];

test('calls of a key in the bulk lane, and requests that choose bulk, wait behind interactive ones', async (t) => {
  const rigged = await setUp(t);
  await rigged.ask('b0', 'index');
  for (const input of ['b1', 'b2']) await rigged.ask(input, 'index');
  await rigged.ask('lowered', 'search', 'bulk');
  await rigged.ask('i1', 'search');
  const [first, second, ...bulk] = await rigged.order();
  assert.deepEqual([first, second], ['b0', 'i1']);
  assert.deepEqual(bulk.toSorted(), ['b1', 'b2', 'lowered']);
});

test('a request can choose interactive only if its key allows it', async (t) => {
  const rigged = await setUp(t, { lane: 'bulk' });
  const asked: readonly [input: string, key: string, lane?: string][] = [
    ['running', 'search'],
    ['model says bulk', 'search'],
    ['may not rise', 'search', 'interactive'],
    ['rises', 'both', 'interactive'],
    ['bulk key', 'index', 'interactive'],
  ];
  for (const one of asked) await rigged.ask(...one);
  const [first, second] = await rigged.order();
  assert.deepEqual([first, second], ['running', 'rises']);
});

test('an unknown lane is refused, with the two known ones', async (t) => {
  const rigged = await setUp(t);
  const headers: [string, string][] = [
    ['Authorization', `Bearer ${secretOf('search')}`],
    ['x-postern-lane', 'fast'],
  ];
  const answer = await rigged.rig.post('/v1/embeddings', '{"model":"m","input":"x"}', { headers });
  assertError(answer, 'unsupported_parameter', { param: 'x-postern-lane', message: /"interactive" or "bulk"/ });
  assert.equal(rigged.upstream.requests.length, 0);
});

test("in an upstream's queue, a key's single call is served before most queued calls of another key", async (t) => {
  const keys = ['hot', 'cold'].map((id) => ({ id, secret: secretOf(id) }));
  const rigged = await setUp(t, {}, keys);
  await rigged.ask('running', 'hot');
  for (let count = 0; count < 6; count += 1) {
    await rigged.ask(`hot ${count}`, 'hot');
  }
  await rigged.ask('cold', 'cold');
  const order = await rigged.order();
  assert.ok(order.indexOf('cold') <= 2, order.join());
});

test('server-timing shows the time in the queue', async (t) => {
  const rigged = await setUp(t);
  await rigged.ask('running', 'search');
  await rigged.ask('waits', 'search');
  await rigged.order();
  const [first, second] = await Promise.all(rigged.answers);
  assert.doesNotMatch(first?.header('server-timing') ?? '', /queue/);
  const [, queueMs] = /queue;dur=([\d.]+)/.exec(second?.header('server-timing') ?? '') ?? [];
  assert.ok(Number(queueMs) > 0);
});

/** An upstream that answers at once, and may be called so often. */
async function setUpPaced(t: TestContext, more: Readonly<Record<string, unknown>>, script: Handler = atOnce200) {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const rig = await startRig(t, { ...toDocument(upstream.url, more), server: {}, keys: standardKeys });
  const ask = (input: string, key = 'search') =>
    rig.post('/v1/embeddings', `{"model":"m","input":"${input}"}`, {
      headers: [
        ['Authorization', `Bearer ${secretOf(key)}`],
        ['Content-Type', 'application/json'],
      ],
    });
  return { upstream, rig, ask };
}

const atOnce200: Handler = (_request, reply) =>
  reply.json(200, { data: [{ embedding: [1], index: 0 }], usage: { prompt_tokens: 1, total_tokens: 1 } });

test("without pace, requests beyond the upstream's rate limit are refused at once", async (t) => {
  const { ask } = await setUpPaced(t, { limits: { requests_per_minute: 2 } });
  const statuses = (await Promise.all(['a', 'b', 'c'].map((one) => ask(one)))).map(({ status }) => status);
  assert.deepEqual(statuses.toSorted(), [200, 200, 429]);
});

test("with pace, calls delayed by an upstream's 429 wait for its reset, and all are served", async (t) => {
  let refused = 0;
  const { upstream, ask } = await setUpPaced(t, { pace: '60s' }, (request, reply) => {
    if (refused > 0) return atOnce200(request, reply);
    refused += 1;
    return reply.json(429, { error: { message: 'too many', type: 'requests' } }, [['Retry-After', '1']]);
  });
  const first = await ask('first');
  assert.equal(first.status, 200);
  assert.match(first.header('server-timing') ?? '', /queue;dur=/);
  assert.equal(upstream.requests.length, 2);
  const statuses = (await Promise.all(['a', 'b', 'c'].map((one) => ask(one)))).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 200]);
});

test('a reset later than pace gives 429 with Retry-After', async (t) => {
  const { ask, upstream } = await setUpPaced(t, { pace: '1s', limits: { requests_per_day: 1 } });
  assert.equal((await ask('a')).status, 200);
  const late = await ask('b');
  assert.equal(late.status, 429);
  assert.ok(Number(late.header('retry-after')) > 60);
  assert.equal(upstream.requests.length, 1);
});

test('with pace, an upstream reporting no remaining requests is not called before its reset', async (t) => {
  const atMs: number[] = [];
  const { ask } = await setUpPaced(t, { pace: '30s' }, (_request, reply) => {
    atMs.push(performance.now());
    const left: [string, string][] = [
      ['x-ratelimit-remaining-requests', '0'],
      ['x-ratelimit-reset-requests', '1s'],
    ];
    return reply.json(200, { data: [{ embedding: [1], index: 0 }] }, left);
  });
  assert.equal((await ask('a')).status, 200);
  assert.equal((await ask('b')).status, 200);
  const [first = 0, second = 0] = atMs;
  assert.ok(second - first >= 900, `${second - first} ms`);
});

test('with pace, calls refused together all wait, and are served one after another', async (t) => {
  let refused = 0;
  const { ask } = await setUpPaced(t, { pace: '60s' }, async (request, reply) => {
    if (refused < 4) {
      refused += 1;
      await wait(20);
      return reply.json(429, { error: { message: 'too many', type: 'requests' } }, [['Retry-After', '1']]);
    }
    await wait(50);
    return atOnce200(request, reply);
  });
  const statuses = (await Promise.all(['a', 'b', 'c', 'd'].map((one) => ask(one)))).map(({ status }) => status);
  assert.deepEqual(statuses, [200, 200, 200, 200]);
});

test("a target's state reports a missed latency objective (slo)", async (t) => {
  const upstream = await startFakeUpstream(async (request, reply) => {
    await reply.sleep(20);
    await atOnce200(request, reply);
  });
  t.after(() => upstream.close());
  const document = toDocument(upstream.url, {}, {}, { slo: { interactive: { p95: '2ms' } } });
  const rig = await startRig(t, { ...document, server: {}, keys: standardKeys });
  const ask = (key: string) =>
    rig.post('/v1/embeddings', '{"model":"m","input":"x"}', {
      headers: [
        ['Authorization', `Bearer ${secretOf(key)}`],
        ['Content-Type', 'application/json'],
      ],
    });
  for (let count = 0; count < 10; count += 1) assert.equal((await ask('index')).status, 200);
  const stateNow = () => atOnce(rig.app.targets())[0]?.isSloMissed;
  assert.equal(stateNow(), undefined, 'bulk is promised nothing');
  for (let count = 0; count < 10; count += 1) assert.equal((await ask('search')).status, 200);
  assert.equal(stateNow(), true);
});
