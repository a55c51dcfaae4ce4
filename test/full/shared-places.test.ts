/** Limits and places that real processes share: workers through the one that watches over them, nodes through Redis. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Caller } from '../chaos/support/caller.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/fake-upstream.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { startOwnRedis } from '../support/redis.ts';

const most = 4;
const crowd = 6;
const secretOf = (id: string): string => `${id}-key-with-enough-characters`;

/** Answers after a while, and knows how many calls were under way at once. */
async function startSlow(t: TestContext, answerMs: number) {
  const seen = { now: 0, most: 0 };
  const upstream: FakeUpstream = await startFakeUpstream(async (_, reply) => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await reply.sleep(answerMs);
    seen.now -= 1;
    await reply.json(200, { id: 'm', model: 'm', results: [{ flagged: false }] });
  });
  t.after(() => upstream.close());
  return { seen, url: upstream.url };
}

async function start(t: TestContext, upstream: string, more: object): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess({
    config: {
      upstreams: [
        {
          ...{ id: 'up', family: 'openai', base_url: upstream, api_key: 'sk-upstream-key' },
          limits: { concurrency: most, queue: 1_000 },
        },
      ],
      models: [{ id: 'm', operations: ['moderations'], targets: [{ upstream: 'up' }] }],
      keys: [
        { id: 'free', secret: secretOf('free') },
        { id: 'limited', secret: secretOf('limited'), limits: { requests_per_day: 40 } },
        { id: 'crowd', secret: secretOf('crowd'), limits: { concurrency: crowd } },
      ],
      ...more,
    },
  });
  t.after(() => gateway.stop());
  return gateway;
}

function asker(t: TestContext) {
  // New connections each time, so that all workers have some.
  const caller = new Caller(t);
  return (nodes: readonly GatewayProcess[], key: string, count: number) =>
    caller.askAll(
      Array.from({ length: count }, () =>
        nodes.map(({ port }) => ({
          ...{ port, key: secretOf(key), path: '/v1/moderations' },
          body: JSON.stringify({ model: 'm', input: 'a few words' }),
        })),
      ).flat(),
    );
}

const served = (answers: readonly { readonly status: number }[]): number =>
  answers.filter(({ status }) => status === 200).length;

test('workers without Redis share limits exactly, headers tell the whole, and an upstream never has too many calls', async (t) => {
  const { seen, url } = await startSlow(t, 20);
  const gateway = await start(t, url, { server: { workers: 3 } });
  const ask = asker(t);
  const limited = await ask([gateway], 'limited', 120);
  assert.equal(served(limited), 40);
  assert.ok(limited.every(({ limit }) => limit === 40));
  assert.equal(served(await ask([gateway], 'free', 60)), 60);
  assert.equal(seen.most, most);
});

test('what a killed worker had under way is free within seconds', async (t) => {
  const { seen, url } = await startSlow(t, 5_000);
  const gateway = await start(t, url, { server: { workers: 2 } });
  const ask = asker(t);
  let broken = 0;
  const held = Array.from({ length: crowd }, async () => {
    const answers = await ask([gateway], 'crowd', 1);
    broken += answers.length - served(answers);
  });
  while (seen.now < most) await wait(20);
  assert.equal(served(await ask([gateway], 'crowd', 1)), 0, 'all are taken');
  // Whichever has some of them; with both gone, the port would be another one.
  for (const { pid } of gateway.log().filter(({ msg }) => msg === 'worker is ready')) {
    process.kill(Number(pid), 'SIGKILL');
    await wait(500);
    if (broken > 0) break;
  }
  assert.ok(broken > 0);
  const killedAtMs = performance.now();
  while (served(await ask([gateway], 'crowd', 1)) === 0) {
    assert.ok(performance.now() - killedAtMs < 30_000, 'the places of the dead did not come back');
    await wait(100);
  }
  await Promise.all(held);
});

test('nodes share the places at an upstream through Redis, and those of a killed node come back', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const { seen, url } = await startSlow(t, 60);
  const more = { redis: redis.url, redis_deadline: '5s' };
  const nodes = await Promise.all([start(t, url, more), start(t, url, more)]);
  const ask = asker(t);
  assert.equal(served(await ask(nodes, 'free', 40)), 80);
  assert.equal(seen.most, most);
  const [dead, other] = nodes;
  assert.ok(dead !== undefined && other !== undefined);
  void ask([dead], 'free', 200);
  // What the other has ready and does not need is there for it as well.
  const deadlineMs = performance.now() + 15_000;
  while (seen.now < most) {
    assert.ok(performance.now() < deadlineMs, 'one that needs all of them gets all');
    await wait(5);
  }
  dead.signal('SIGKILL');
  const killedAtMs = performance.now();
  assert.equal(served(await ask([other], 'free', 12)), 12);
  t.diagnostic(`served by the other node ${Math.round(performance.now() - killedAtMs)} ms after it (bar: 10 s)`);
});
