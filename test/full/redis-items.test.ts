/** Items that all nodes remember together, in a real Redis: shared, judged before they are served, and never waited for long. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, RESP_TYPES } from '@redis/client';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { startSeveral } from '../support/gateways/several.ts';
import { type OwnRedisServer, startOwnRedis } from '../support/servers/redis.ts';
import { until } from '../support/time/until.ts';
import { embeddingsOf, embeds } from '../support/upstreams/list-service.ts';

/** The first of them, once it reaches Redis; another one of the same configuration is `another`. */
async function startNode(t: TestContext, redis: OwnRedisServer) {
  const { rig } = await startSeveral(t, [embeds], {
    model: { operations: ['embeddings'], cache: { ttl: '1h' } },
    more: { redis: redis.url },
  });
  await until(
    async () => {
      await ask(rig, [`warm ${Math.random()}`]);
      return (await keysIn(redis)).length > 0;
    },
    { everyMs: 25 },
  );
  return { rig, another: () => startRig(t, rig.document) };
}

const ask = async (rig: Rig, input: readonly string[]) => {
  const answer = await rig.post('/v1/embeddings', { model: 'm', input });
  assert.equal(answer.body.toString(), embeddingsOf(input));
  return answer.header('x-postern-cache');
};

const keysIn = async (redis: OwnRedisServer): Promise<string[]> =>
  (await redis.send('KEYS', 'postern:item:*')) as string[];

test('items cached by one node are hits on another', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const { rig, another } = await startNode(t, redis);
  assert.equal(await ask(rig, ['a', 'bb']), 'miss');
  const other = await another();
  await until(async () => (await ask(other, ['bb', 'a'])) === 'hit', { everyMs: 25 });
  assert.ok(Number(await redis.send('PTTL', (await keysIn(redis))[0] ?? '')) > 3_000_000);
});

test('a truncated, altered or moved value is a miss', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const { rig, another } = await startNode(t, redis);
  const warm = new Set(await keysIn(redis));
  const itemKeys = async (): Promise<string[]> => (await keysIn(redis)).filter((key) => !warm.has(key));
  await ask(rig, ['a', 'bb']);
  await until(async () => (await itemKeys()).length === 2, { everyMs: 25 });
  const client = createClient({ url: redis.url });
  client.on('error', () => undefined);
  await client.connect();
  t.after(() => client.destroy());
  const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
  const [first = '', second = ''] = await itemKeys();
  const whole = await bytes.get(first);
  const other = await bytes.get(second);
  assert.ok(Buffer.isBuffer(whole) && Buffer.isBuffer(other));
  const changed = Buffer.from(whole);
  changed[changed.length - 3] = (changed[changed.length - 3] ?? 0) ^ 1;
  for (const wrong of [whole.subarray(0, -1), changed, other, Buffer.from('x'), Buffer.alloc(0)]) {
    await client.set(first, wrong);
    await client.set(second, wrong === other ? whole : wrong);
    const node = await another();
    // Until it reaches Redis it would miss whatever stands there.
    await until(() => readsFrom(node), { everyMs: 25 });
    assert.equal(await ask(node, ['a', 'bb']), 'miss');
  }

  /** What another node has just written is known. */
  async function readsFrom(node: Rig): Promise<boolean> {
    const text = `shared ${Math.random()}`;
    await ask(rig, [text]);
    await wait(20);
    return (await ask(node, [text])) === 'hit';
  }
});

/** How often it was read and written so far. */
async function countsIn(redis: OwnRedisServer): Promise<{ readonly reads: number; readonly writes: number }> {
  const statistics = String(await redis.send('INFO', 'commandstats'));
  const callsOf = (command: string): number =>
    Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(statistics)?.[1] ?? 0);
  return { reads: callsOf('mget'), writes: callsOf('set') };
}

test('a killed or hanging Redis delays no request, and is used again when it is back', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const { rig, another } = await startNode(t, redis);
  const other = await another();
  const before = await countsIn(redis);
  redis.pause();
  assert.deepEqual([await ask(rig, ['hung']), await ask(rig, ['hung'])], ['miss', 'hit']);
  for (let i = 0; i < 20; i += 1) assert.equal(await ask(rig, [`hung ${i}`]), 'miss');
  redis.resume();
  await until(async () => (await countsIn(redis)).writes >= before.writes + 21, { everyMs: 25 });
  // While it owes a reply it is not asked again, so that not every request waits for it.
  assert.equal((await countsIn(redis)).reads, before.reads + 1);
  await redis.kill();
  assert.deepEqual([await ask(rig, ['gone']), await ask(rig, ['gone'])], ['miss', 'hit']);
  await redis.restart();
  await until(
    async () => {
      const text = `back ${Math.random()}`;
      await ask(rig, [text]);
      await wait(50);
      return (await ask(other, [text])) === 'hit';
    },
    { everyMs: 25 },
  );
});
