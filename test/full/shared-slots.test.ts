/** Limits and slots that real processes share: workers through their supervisor, nodes through Redis. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Caller } from '../chaos/support/clients/caller.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { startOwnRedis } from '../support/servers/redis.ts';
import { until } from '../support/time/until.ts';
import type { Reply } from '../support/upstreams/fake-reply.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const most = 4;
const workers = 2;
const secretOf = (id: string): string => `${id}-key-with-enough-characters`;

/** Holds calls until there have been as many at a time as there may be: a busy machine sends them one by one. */
async function holdUntilMost(reply: Reply, seen: { readonly most: number }): Promise<void> {
  for (let looks = 0; seen.most < most && looks < 1_000; looks += 1) await reply.sleep(10);
  await reply.sleep(20);
}

/** Answers when released, and records the maximum of simultaneous calls. */
async function startUpstream(t: TestContext, hold: (reply: Reply, seen: { readonly most: number }) => unknown) {
  const seen = { now: 0, most: 0 };
  const upstream: FakeUpstream = await startFakeUpstream(async (_, reply) => {
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await hold(reply, seen);
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
          // A waiting call outlasts the slots of dead processes.
          limits: { concurrency: most, queue: 1_000, queue_timeout: '60s' },
        },
      ],
      models: [{ id: 'm', operations: ['moderations'], targets: [{ upstream: 'up' }] }],
      keys: [
        { id: 'free', secret: secretOf('free') },
        { id: 'limited', secret: secretOf('limited'), limits: { requests_per_day: 40 } },
        { id: 'crowd', secret: secretOf('crowd'), limits: { concurrency: most } },
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

test("workers without Redis share limits exactly, headers show the total, and an upstream's limit holds", async (t) => {
  const { seen, url } = await startUpstream(t, holdUntilMost);
  const gateway = await start(t, url, { server: { workers: 3 } });
  const ask = asker(t);
  const limited = await ask([gateway], 'limited', 120);
  assert.equal(served(limited), 40);
  assert.ok(limited.every(({ limit }) => limit === 40));
  assert.equal(served(await ask([gateway], 'free', 60)), 60);
  assert.equal(seen.most, most);
});

test("a killed worker's slots are free within seconds", async (t) => {
  const end = Promise.withResolvers<void>();
  let calls = 0;
  const { seen, url } = await startUpstream(t, (reply) => {
    calls += 1;
    return calls <= most ? Promise.race([end.promise, reply.clientClosed]) : undefined;
  });
  const gateway = await start(t, url, { server: { workers } });
  const ask = asker(t);
  let broken = 0;
  const held = Array.from({ length: most }, async () => {
    const answers = await ask([gateway], 'crowd', 1);
    broken += answers.length - served(answers);
  });
  await until(() => seen.now === most, { what: 'all are under way' });
  assert.equal(served(await ask([gateway], 'crowd', 1)), 0, 'all are taken');
  const ready = () => gateway.log().filter(({ msg }) => msg === 'worker is ready');
  let killedAtMs = 0;
  // Whichever has some of them. Never both at a time: with nobody to hold it, the port would be another one.
  for (const [index, { pid }] of ready().entries()) {
    process.kill(Number(pid), 'SIGKILL');
    killedAtMs = performance.now();
    await until(() => broken > 0 || ready().length > workers + index, {
      what: 'it had some, or another took its place',
    });
    if (broken > 0) break;
  }
  assert.ok(broken > 0);
  await until(async () => served(await ask([gateway], 'crowd', 1)) === 1, {
    what: 'the slots of the dead processes are free again',
  });
  t.diagnostic(`free ${Math.round(performance.now() - killedAtMs)} ms after it (bar: 10 s)`);
  const dead = broken;
  end.resolve();
  await Promise.all(held);
  assert.equal(broken, dead, 'the others were served');
});

test("nodes share an upstream's slots through Redis, and a killed node's slots are freed", async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const { seen, url } = await startUpstream(t, holdUntilMost);
  const more = { redis: redis.url, redis_deadline: '5s' };
  const nodes = await Promise.all([start(t, url, more), start(t, url, more)]);
  const ask = asker(t);
  assert.equal(served(await ask(nodes, 'free', 40)), 80);
  assert.equal(seen.most, most);
  const [dead, other] = nodes;
  assert.ok(dead !== undefined && other !== undefined);
  void ask([dead], 'free', 200);
  // What the other has ready and does not need is there for it as well.
  await until(() => seen.now === most, { what: 'one that needs all of them has all' });
  dead.signal('SIGKILL');
  const killedAtMs = performance.now();
  assert.equal(served(await ask([other], 'free', 12)), 12);
  assert.equal(seen.most, most);
  t.diagnostic(`served by the other node ${Math.round(performance.now() - killedAtMs)} ms after it (bar: 10 s)`);
});
