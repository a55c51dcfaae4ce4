/** Edge cases of trying one target after another: attribution of faults, billing, reports, and released resources. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { atOnce, isSliceOver } from '../../src/lib/time-slices.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes, startPair } from '../support/gateways/pair.ts';
import { answering, refusingWith, resetting, type Several, silent, startSeveral } from '../support/gateways/several.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const afterMs =
  (ms: number, then: Handler): Handler =>
  async (request, reply) => {
    await reply.sleep(ms);
    await then(request, reply);
  };

const credentials = [{ api_key: 'sk-first-credential' }, { api_key: 'sk-second-credential' }];
const ask = '{"model":"m","input":"x"}';

/** The cooldowns of the targets, by the latest log events. */
function cooldownsIn(setup: Several): readonly string[] {
  return setup.rig.warnings
    .filter(({ message }) => message === 'target in cooldown')
    .map(({ fields }) => String(fields.upstream));
}

test('a model name that no header can hold does not break the request', async (t) => {
  const pair = await startPair(t, answering('a'), { upstream: { limits: { concurrency: 2, queue: 0 } } });
  const pattern = { id: 'p-*', operations: ['embeddings'], targets: [{ upstream: 'up', model: '*' }] };
  const upstreams = [
    {
      id: 'up',
      family: 'openai',
      base_url: pair.upstream.url,
      api_key: 'sk-of-the-upstream',
      limits: { concurrency: 2, queue: 0 },
    },
  ];
  assert.deepEqual(pair.rig.app.swap(await pair.rig.compile({ upstreams, models: [pattern] })), []);
  for (let i = 0; i < 6; i += 1) {
    const answer = await pair.rig.post('/v1/embeddings', '{"model":"p-\\ud83d\\ude00","input":"x"}');
    assert.equal(answer.status, 200);
    assert.equal(answer.header('x-postern-space'), '%F0%9F%98%80');
  }
});

test('a target that is cut off by the total timeout after a slow first target does not enter cooldown', async (t) => {
  const slow = afterMs(patientMs(62.5), answering('b'));
  const setup = await startSeveral(t, [silent, slow], {
    upstream: { timeouts: { first_byte: patiently(100), total: patiently(125) } },
  });
  for (let i = 0; i < 6; i += 1) await setup.embed();
  assert.ok(!cooldownsIn(setup).includes('b'), cooldownsIn(setup).join());
});

test('a target whose queued requests run out of their total timeout does not enter cooldown', async (t) => {
  const setup = await startSeveral(t, [silent, answering('b')], {
    upstream: {
      timeouts: { first_byte: patiently(100), total: patiently(100) },
      limits: { concurrency: 1, queue: 50, queue_timeout: patiently(100) },
    },
  });
  const answers = await Promise.all(Array.from({ length: 8 }, () => setup.embed()));
  assert.ok(answers.every(({ status }) => [200, 503, 504].includes(status)));
  assert.ok(!cooldownsIn(setup).includes('b'), cooldownsIn(setup).join());
});

test('a hedged second call goes to no target in cooldown', async (t) => {
  const setup = await startSeveral(t, [afterMs(patientMs(10), answering('a')), refusingWith(500)], {
    model: { operations: ['embeddings'], hedge: { after: patiently(1.25) } },
  });
  for (let i = 0; i < 20; i += 1) assert.equal((await setup.embed()).status, 200);
  const [, second = 0] = setup.seen();
  // On a slow machine cooldowns end meanwhile, each with a probe.
  assert.ok(second >= 5 && second < 15, `${second} calls to the one that fails`);
});

test('if a healthy target answers with an error, no target in cooldown is called in its place', async (t) => {
  let fails = false;
  const setup = await startSeveral(
    t,
    [silent, (request, reply) => (fails ? refusingWith(500) : answering('b'))(request, reply)],
    { upstream: { timeouts: { first_byte: patiently(20) } } },
  );
  for (let i = 0; i < 5; i += 1) assert.equal((await setup.embed()).status, 200);
  assert.deepEqual(setup.seen(), [5, 5]);
  fails = true;
  assert.equal((await setup.embed()).status, 500);
  assert.deepEqual(setup.seen(), [5, 6]);
});

test("after a hedged call fails, the first target's second credential can still answer", async (t) => {
  const first: Handler = (request, reply) =>
    request.header('authorization')?.includes('first') === true
      ? afterMs(patientMs(20), refusingWith(429))(request, reply)
      : reply.json(200, { from: 'the second key' });
  const setup = await startSeveral(t, [first, refusingWith(503)], {
    model: { operations: ['embeddings'], hedge: { after: patiently(5) } },
    upstream: [{ api_key: undefined, credentials: [{ ...credentials[0], weight: 1_000_000 }, credentials[1]] }, {}],
  });
  assert.deepEqual((await setup.embed()).json(), { from: 'the second key' });
});

test('a response that breaks before its first body byte is retried elsewhere', async (t) => {
  const headOnly: Handler = async (_request, reply) => {
    await reply.head(200, [
      ['content-type', 'application/json'],
      ['content-length', '100'],
    ]);
    reply.cut();
  };
  const setup = await startSeveral(t, [headOnly, answering('b')]);
  for (let i = 0; i < 6; i += 1) assert.deepEqual((await setup.embed()).json(), { from: 'b' });
  assert.deepEqual(setup.seen(), [5, 6]);
  const alone = await startSeveral(t, [headOnly]);
  const answer = await alone.embed();
  assert.equal(answer.status, 200, 'with nobody else, it passes as it came');
  assert.equal(answer.complete, false);
});

test('an error inside a 200 is found byte by byte and moves on; an ordinary response is not held back', async (t) => {
  const text = '{"error": {"message": "no", "code": 429}}';
  const pieces: Handler = async (_request, reply) => {
    await reply.head(200, [
      ['content-type', 'application/json; charset=utf-8'],
      ['content-length', String(text.length)],
    ]);
    for (const letter of text) await reply.raw(letter);
  };
  const setup = await startSeveral(t, [pieces, answering('b')]);
  assert.deepEqual((await setup.embed()).json(), { from: 'b' });
  assert.equal((await setup.rig.exchange()).tries[0]?.outcome, 'limited');

  const pair = await startPair(t, async (_request, reply) => {
    await reply.head(200, [
      ['content-type', 'application/json'],
      ['content-length', '20'],
    ]);
    await reply.raw('{"object":');
    await reply.sleep(patientMs(75));
    await reply.raw('"a list"  ');
  });
  const connection = await connect(pair.rig.port);
  await connection.write(questionBytes());
  await connection.sees('{"object":');
  assert.ok(!connection.received().includes('a list'));
  assert.equal((await connection.nextResponse()).complete, true);
});

test("a completion reset by the second target returns that error, not the first target's 429", async (t) => {
  const setup = await startSeveral(t, [refusingWith(429), resetting]);
  assertError(await setup.complete(), 'upstream_unreachable');
});

test('an upstream moved by a reload starts with fresh health', async (t) => {
  const setup = await startSeveral(t, [refusingWith(503, [['Retry-After', '60']]), answering('b')]);
  const at = (port: number) => ({
    upstreams: [{ id: 'a', family: 'openai', base_url: `http://127.0.0.1:${port}`, api_key: 'sk-credential-of-a' }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'a' }] }],
  });
  const [first, second] = setup.upstreams;
  setup.rig.app.swap(await setup.rig.compile(at(first?.port ?? 0)));
  assert.equal((await setup.embed()).status, 503);
  assertError(await setup.embed(), 'no_upstream_available');
  const moved = await setup.rig.compile(at(second?.port ?? 0));
  while (!isSliceOver());
  setup.rig.app.swap(moved);
  // A look at it at once finds no state of the other address, and keeps none.
  assert.deepEqual(
    atOnce(setup.rig.app.targets()).map(({ state }) => state),
    ['healthy'],
  );
  assert.deepEqual((await setup.embed()).json(), { from: 'b' });
});

test('an upstream failed by a health check is called again when the check is removed', async (t) => {
  const setup = await startSeveral(
    t,
    [(request, reply) => reply.json(request.method === 'GET' ? 500 : 200, { from: 'a' }), answering('b')],
    {
      upstream: [{ health_check: { path: '/health', interval: patiently(25), timeout: patiently(25) } }, {}],
    },
  );
  const from = async (): Promise<string> => JSON.stringify((await setup.embed()).json());
  await until(async () => (await from()) === '{"from":"b"}');
  const upstreams = setup.upstreams.map(({ url }, i) => ({
    id: i === 0 ? 'a' : 'b',
    family: 'openai',
    base_url: url,
    api_key: `sk-credential-of-${i === 0 ? 'a' : 'b'}`,
  }));
  const targets = [{ upstream: 'a' }, { upstream: 'b', priority: 1 }];
  setup.rig.app.swap(
    await setup.rig.compile({ upstreams, models: [{ id: 'm', operations: ['embeddings'], targets }] }),
  );
  assert.equal(await from(), '{"from":"a"}');
});

test('a discarded response frees its slot for the next credential', async (t) => {
  const dripping: Handler = async (request, reply) => {
    if (request.header('authorization')?.includes('second') === true)
      return reply.json(200, { from: 'the second key' });
    await reply.head(429, [['content-length', '100']]);
    await reply.stall();
  };
  const setup = await startSeveral(t, [dripping], {
    upstream: {
      api_key: undefined,
      credentials: [{ ...credentials[0], weight: 1_000_000 }, credentials[1]],
      limits: { concurrency: 1, queue: 0 },
    },
  });
  assert.deepEqual((await setup.embed()).json(), { from: 'the second key' });
});

test('clients that leave while their body is judged occupy no queue slot', async (t) => {
  const pair = await startPair(t, silent, { upstream: { limits: { concurrency: 1, queue: 3, queue_timeout: '5s' } } });
  const first = await connect(pair.rig.port);
  await first.write(questionBytes());
  await pair.upstream.nextRequest();
  const long = questionBytes(`{"model":"m","input":[${'"word",'.repeat(300_000)}"x"]}`);
  for (let i = 0; i < 4; i += 1) {
    const leaving = await connect(pair.rig.port);
    await leaving.write(long);
    leaving.reset();
  }
  await pair.rig.exchange(4);
  const living = await connect(pair.rig.port);
  await living.write(questionBytes());
  await wait(50);
  pair.upstream.respondWith(answering('a'));
  first.destroy();
  assert.equal((await living.nextResponse()).status, 200);
});

test('a call that could not connect does not use the retry budget', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), answering('b'), answering('c')], {
    target: [{}, { priority: 1 }, { priority: 2 }],
  });
  await setup.upstreams[1]?.close();
  for (let i = 0; i < 40; i += 1) {
    setup.upstreams[0]?.respondWith(i % 2 === 0 ? refusingWith(500) : answering('a'));
    const answer = await setup.rig.post('/v1/embeddings', ask);
    assert.equal(answer.status, 200);
  }
});
