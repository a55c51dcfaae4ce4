/** Limits of several nodes that count together in a real Redis, and what each does when Redis is unavailable. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Caps, type Holder, type HolderKind, noCaps, type Rate } from '../../src/core/caps.ts';
import type { Amounts, Limiter, Refused, Taken } from '../../src/limits/limiter.ts';
import { createRedisLimiter, type RedisLimiter } from '../../src/limits/redis-limiter.ts';
import { headersIn } from '../support/limits/rate-lines.ts';
import { startOwnRedis, startRedis } from '../support/servers/redis.ts';
import { patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';

const one: Amounts = { requests: 1, tokens: 0, items: 0 };

/** Not so short that a busy machine makes Redis late where it is there. */
const shortMs = patientMs(40);

let runs = 0;
/** Redis may be shared with other tests. */
function unique(name: string): string {
  runs += 1;
  return `${name} ${process.pid} ${Date.now()} ${runs}`;
}

function holder(kind: HolderKind, id: string, caps: Partial<Caps>): Holder {
  return { kind, id, caps: { ...noCaps, ...caps } };
}

const requestsAMinute = (most: number): Rate => ({ measure: 'requests', window: 'minute', most });
const tokensAMinute = (most: number): Rate => ({ measure: 'tokens', window: 'minute', most });

interface Node extends RedisLimiter {
  readonly lines: { readonly level: string; readonly text: string }[];
}

interface NodeOptions {
  readonly aheadMs?: number;
  /** By itself a machine that is busy with other things would make Redis late, and the count of one node decide. */
  readonly deadlineMs?: number;
}

async function startNode(t: TestContext, url: string, options: NodeOptions = {}): Promise<Node> {
  const { aheadMs = 0, deadlineMs = 5_000 } = options;
  const lines: { level: string; text: string }[] = [];
  const log =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      lines.push({ level, text: `${message} ${JSON.stringify(fields)}` });
    };
  const limiter = await createRedisLimiter({
    url,
    clock: { monotonicMs: () => performance.now() + aheadMs },
    node: unique('node'),
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    random: Math.random,
    deadlineMs,
  });
  t.after(() => limiter.close());
  return Object.assign(limiter, { lines });
}

const isEmpty = (list: unknown): boolean => Array.isArray(list) && list.length === 0;

interface Decisions {
  readonly taken: Taken[];
  readonly refused: Refused[];
  readonly slowestMs: number;
}

async function reserve(limiter: Limiter, holders: readonly Holder[], times: number, amounts = one): Promise<Decisions> {
  let slowestMs = 0;
  const answers = await Promise.all(
    Array.from({ length: times }, async () => {
      const startedMs = performance.now();
      const answer = await limiter.reserve(holders, amounts);
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
      return answer;
    }),
  );
  return {
    taken: answers.filter((answer) => answer.kind === 'taken'),
    refused: answers.filter((answer) => answer.kind === 'refused'),
    slowestMs,
  };
}

/** Times are shown beside their bar. */
function showSlowest(t: TestContext, when: string, { slowestMs }: Decisions): void {
  t.diagnostic(`slowest decision ${when}: ${slowestMs.toFixed(1)} ms (bar: 50 ms)`);
}

test('four nodes with clocks two seconds apart admit exactly the limit', async (t) => {
  const redis = await startRedis(t);
  if (redis === undefined) return;
  const nodes = await Promise.all([0, 2_000, 4_000, 6_000].map((aheadMs) => startNode(t, redis.url, { aheadMs })));
  const [key, model] = [unique('key'), unique('model')];
  const decisions: Decisions[] = [];
  for (let round = 0; round < 10; round += 1) {
    const lists = nodes.map(() => [
      holder('key', key, { rates: [requestsAMinute(100), tokensAMinute(1_000_000)] }),
      holder('model', model, { rates: [{ measure: 'requests', window: 'day', most: 150 }] }),
    ]);
    decisions.push(...(await Promise.all(nodes.map((node, index) => reserve(node, lists[index] ?? [], 20)))));
  }
  const taken = decisions.flatMap((one) => one.taken);
  const refused = decisions.flatMap((one) => one.refused);
  assert.equal(taken.length, 100);
  assert.equal(refused.length, 700);
  assert.ok(refused.every(({ limit }) => limit === `100 requests a minute of the key ${JSON.stringify(key)}`));
  assert.ok(refused.every(({ retryAfterMs }) => retryAfterMs > 50_000 && retryAfterMs <= 61_000));
  assert.deepEqual(refused[0] && headersIn(refused[0]).slice(0, 4), [
    ...['x-ratelimit-limit-requests', '100', 'x-ratelimit-remaining-requests', '0'],
  ]);
  // What is given back whole by one node is there for another.
  taken[0]?.settle({ requests: 0, tokens: 0, items: 0 });
  const again = holder('key', key, { rates: [requestsAMinute(100)] });
  await until(async () => (await nodes[3]?.reserve([again], one))?.kind === 'taken', { what: 'given back' });
});

test('at settlement, unused reserved tokens are returned and excess tokens are added for all nodes', async (t) => {
  const redis = await startRedis(t);
  if (redis === undefined) return;
  const [first, second] = [await startNode(t, redis.url), await startNode(t, redis.url)];
  const holders = [holder('key', unique('key'), { rates: [tokensAMinute(100)] })];
  const remaining = (answer: Taken | Refused): string | undefined => headersIn(answer)[3];
  const asked = { requests: 1, tokens: 60, items: 0 };
  const taken = await first.reserve(holders, asked);
  assert.ok(taken.kind === 'taken');
  assert.equal(remaining(taken), '40');
  assert.equal((await second.reserve(holders, asked)).kind, 'refused');
  taken.settle({ requests: 1, tokens: 25, items: 0 });
  taken.settle({ requests: 1, tokens: 0, items: 0 });
  await until(async () => headersIn(await second.reserve(holders, { ...one, tokens: 0 }))[3] === '75', {
    what: 'given back',
  });
  const more = await second.reserve(holders, asked);
  assert.ok(more.kind === 'taken');
  assert.equal(remaining(more), '15');
  more.settle({ requests: 1, tokens: 600, items: 0 });
  await until(async () => (await first.reserve(holders, one)).kind === 'refused', { what: 'added' });
});

test('concurrent requests are counted over all nodes, and those of a killed node are forgotten', async (t) => {
  const redis = await startRedis(t);
  if (redis === undefined) return;
  const node = await startNode(t, redis.url);
  const id = unique('key');
  const holders = [holder('key', id, { concurrency: 3 })];
  const module = new URL('../../src/limits/redis-limiter.ts', import.meta.url).href;
  const program = `
    import { createRedisLimiter } from ${JSON.stringify(module)};
    const log = { info() {}, warn() {} };
    const clock = { monotonicMs: () => performance.now() };
    const limiter = await createRedisLimiter({ url: ${JSON.stringify(redis.url)}, clock, node: 'child ' + process.pid, log, random: Math.random });
    const holders = [${JSON.stringify(holders[0])}];
    for (let i = 0; i < 2; i += 1) console.log((await limiter.reserve(holders, { requests: 1, tokens: 0, items: 0 })).kind);`;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  await until(() => output === 'taken\ntaken\n', { what: 'the child took two' });
  const third = await node.reserve(holders, one);
  assert.ok(third.kind === 'taken');
  const refused = await node.reserve(holders, one);
  assert.ok(refused.kind === 'refused');
  assert.equal(refused.limit, `3 requests at a time of the key ${JSON.stringify(id)}`);
  third.settle(one);
  await until(
    async () => {
      const again = await node.reserve(holders, one);
      return again.kind === 'taken';
    },
    { what: 'given back' },
  );
  child.kill('SIGKILL');
  await once(child, 'close');
  await until(async () => (await node.reserve(holders, one)).kind === 'taken', {
    what: 'those of the killed node are free',
  });
});

test('with Redis killed each node admits its share by its own count, and all agree when it is back empty', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const nodes = [
    await startNode(t, redis.url, { deadlineMs: shortMs }),
    await startNode(t, redis.url, { deadlineMs: shortMs }),
  ];
  const [first, second] = nodes;
  assert.ok(first !== undefined && second !== undefined);
  await until(() => nodes.every((node) => node.nodes === 2), { what: 'they know of each other' });
  const id = unique('key');
  const list = (): Holder[] => [holder('key', id, { rates: [requestsAMinute(100)], concurrency: 1_000 })];
  const before = await reserve(first, list(), 30);
  assert.equal(before.taken.length, 30);

  await redis.kill();
  const [mine, theirs] = await Promise.all([reserve(first, list(), 100), reserve(second, list(), 100)]);
  showSlowest(t, 'with Redis killed', mine);
  showSlowest(t, 'with Redis killed', theirs);
  assert.equal(mine.taken.length, 20, 'it had let through 30 before');
  assert.equal(theirs.taken.length, 50);
  assert.equal(mine.refused[0]?.limit, `100 requests a minute of the key ${JSON.stringify(id)} (50 for now)`);

  await redis.restart();
  await until(() => nodes.every((node) => node.isShared), { what: 'both are back' });
  // Redis knows what both let through meanwhile, though it came back with nothing.
  await until(async () => (await reserve(second, list(), 1)).taken.length === 0, { what: 'it is full' });
  assert.equal((await reserve(first, list(), 20)).taken.length, 0);
  for (const taken of [...before.taken, ...mine.taken, ...theirs.taken]) taken.settle(one);
  await until(
    async () => {
      return isEmpty(await redis.send('KEYS', `postern:{limits}:*:open:key:${id}`));
    },
    { what: 'nothing is open' },
  );
  await until(() => nodes.every(({ lines }) => lines.some(({ text }) => text.startsWith('redis reachable again'))), {
    what: 'both say so',
  });
  for (const { lines } of nodes) {
    const events = lines.map(({ level, text }) => `${level} ${text.slice(0, 9)}`);
    assert.deepEqual([...new Set(events)], ['warn redis unr', 'info redis rea']);
    assert.equal(new Set(lines.map(({ text }) => text)).size, lines.length, 'each reason once');
  }
});

test('a Redis restored to an older state gets the counts it has lost', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const nodes = [await startNode(t, redis.url), await startNode(t, redis.url)];
  const [first, second] = nodes;
  assert.ok(first !== undefined && second !== undefined);
  await until(() => nodes.every((node) => node.nodes === 2), { what: 'they know of each other' });
  const list = [
    holder('key', unique('key'), { rates: [requestsAMinute(100), tokensAMinute(1_000)], concurrency: 500 }),
  ];
  const amounts = { requests: 1, tokens: 5, items: 0 };
  assert.equal((await reserve(first, list, 20, amounts)).taken.length, 20);
  await redis.send('SAVE');
  const { taken } = await reserve(first, list, 30, amounts);
  assert.equal(taken.length, 30);
  await redis.restart();
  await until(() => nodes.every((node) => node.isShared), { what: 'both are back' });
  taken[0]?.settle({ requests: 1, tokens: 15, items: 0 });
  await until(
    async () => {
      const { taken: more } = await reserve(second, list, 1, { requests: 0, tokens: 0, items: 0 });
      const headers = more[0] === undefined ? [] : headersIn(more[0]);
      return headers[3] === '50' && headers[9] === '740';
    },
    { what: 'it knows of all' },
  );
  assert.equal((await reserve(second, list, 60)).taken.length, 50);
});

test('with Redis hanging every decision is still made, and requests in flight count once', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const node = await startNode(t, redis.url, { deadlineMs: shortMs });
  const list = [holder('key', unique('key'), { rates: [requestsAMinute(1_000), tokensAMinute(100_000)] })];
  assert.equal((await reserve(node, list, 10)).taken.length, 10);
  redis.pause();
  const hung = await reserve(node, list, 200);
  showSlowest(t, 'as Redis falls silent', hung);
  assert.equal(hung.taken.length, 200);
  for (let round = 0; round < 20; round += 1) {
    const decisions = await reserve(node, list, 10);
    showSlowest(t, 'with Redis hung', decisions);
    assert.equal(decisions.taken.length, 10);
    await wait(100);
  }
  redis.resume();
  await until(() => node.isShared, { what: 'it is back' });
  const after = await reserve(node, list, 1);
  const used = 1_000 - Number(after.taken[0] && headersIn(after.taken[0])[3]);
  // Those on their way when it fell silent may have been carried out on the lost connection as well.
  assert.ok(used >= 411 && used <= 611, `${used}`);
});

test('a short pause of Redis closes no connection, and no request is counted twice', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const node = await startNode(t, redis.url, { deadlineMs: 100 });
  const list = [holder('key', unique('key'), { rates: [requestsAMinute(1_000)], concurrency: 1_000 })];
  await reserve(node, list, 10);
  const connections = async (): Promise<string | undefined> =>
    /total_connections_received:(\d+)/.exec(String(await redis.send('INFO', 'stats')))?.[1];
  const before = Number(await connections());
  redis.pause();
  const quick = await reserve(node, list, 50);
  assert.equal(quick.taken.length, 50);
  await wait(200);
  redis.resume();
  await until(() => node.isShared, { what: 'it is back' });
  const [after] = (await reserve(node, list, 1)).taken;
  assert.equal(after && headersIn(after)[3], String(1_000 - 61));
  assert.equal(Number(await connections()), before + 1, 'that of this question');
  assert.equal(node.localDecisions.late, 50);
  assert.ok(!node.lines.some(({ text }) => text.startsWith('redis unr')));
});

test('late answers are replaced by the last known counts, and only several in a row make Redis unreachable', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const nodes = [
    await startNode(t, redis.url, { deadlineMs: 200 }),
    await startNode(t, redis.url, { deadlineMs: 200 }),
  ];
  const [first, second] = nodes;
  assert.ok(first !== undefined && second !== undefined);
  await until(() => nodes.every((node) => node.nodes === 2), { what: 'they know of each other' });
  const list = [holder('key', unique('key'), { rates: [requestsAMinute(100)] })];
  assert.equal((await reserve(first, list, 90)).taken.length, 90);
  assert.equal((await reserve(second, list, 2)).taken.length, 2);

  redis.pause();
  const [late, lateToo] = await Promise.all([reserve(first, list, 20), reserve(second, list, 20)]);
  // The first heard of 90, the second of 92: half of what was left is theirs, however much each has taken itself.
  assert.deepEqual([late.taken.length, lateToo.taken.length], [5, 4]);
  assert.ok(late.refused.every(({ limit }) => limit.startsWith('100 requests a minute')));
  assert.ok(
    nodes.every(({ isShared }) => isShared),
    'once is no absence',
  );
  for (let time = 0; time < 2; time += 1) await Promise.all(nodes.map((node) => reserve(node, list, 1)));
  assert.ok(
    nodes.every(({ isShared }) => !isShared),
    'three times is',
  );
  for (const { lines } of nodes) assert.match(lines[0]?.text ?? '', /^redis unr.*3 answers in a row/);
  redis.resume();
  await until(() => nodes.every((node) => node.isShared), { what: 'both are back' });
});

for (const [why, refuse, fix] of [
  ['it is out of memory', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ['it became a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
] as const) {
  test(`a Redis that refuses because ${why} counts as unreachable until it recovers`, async (t) => {
    const redis = await startOwnRedis(t);
    if (redis === undefined) return;
    const node = await startNode(t, redis.url, { deadlineMs: shortMs });
    const list = [holder('key', unique('key'), { rates: [requestsAMinute(20)] })];
    assert.equal((await reserve(node, list, 5)).taken.length, 5);
    await redis.send(...refuse);
    const refusing = await reserve(node, list, 30);
    showSlowest(t, 'with Redis refusing', refusing);
    assert.equal(refusing.taken.length, 15);
    await wait(1_000);
    assert.equal(node.isShared, false);
    await redis.send(...fix);
    await until(() => node.isShared, { what: 'it is back' });
    assert.equal(node.nodes, 1, 'it counts itself once, although its first names did not end');
    assert.equal((await reserve(node, list, 5)).taken.length, 0);
    assert.equal(node.lines.filter(({ level }) => level === 'warn').length, 1);
  });
}

test('a Redis that is loading counts as unreachable until it has loaded', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  await redis.send('DEBUG', 'POPULATE', '2000');
  await redis.send('SAVE');
  const node = await startNode(t, redis.url, { deadlineMs: shortMs });
  // Half a millisecond a key; it takes connections meanwhile.
  await redis.restart({
    args: ['--key-load-delay', '500', '--loading-process-events-interval-bytes', '1024'],
    isAwaited: false,
  });
  const list = [holder('key', unique('key'), { rates: [requestsAMinute(20)] })];
  for (let round = 0; round < 5; round += 1) {
    showSlowest(t, 'with Redis loading', await reserve(node, list, 10));
    await wait(100);
  }
  await until(() => node.isShared, { what: 'it is back' });
  assert.equal((await reserve(node, list, 5)).taken.length, 0);
});

test('recovers when scripts are flushed, and starts anew when all data is', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const node = await startNode(t, redis.url);
  const list = [holder('key', unique('key'), { rates: [requestsAMinute(300)], concurrency: 300 })];
  const decided: Decisions[] = [];
  const load = (async () => {
    for (let round = 0; round < 30; round += 1) {
      decided.push(await reserve(node, list, 5));
      await wait(1);
    }
  })();
  for (let flush = 0; flush < 5; flush += 1) await redis.send('SCRIPT', 'FLUSH');
  await load;
  assert.equal(decided.flatMap(({ taken }) => taken).length, 150);
  assert.deepEqual(node.lines, []);
  await redis.send('FLUSHALL');
  await until(() => node.lines.length > 0, { what: 'it has noticed' });
  await until(() => node.isShared, { what: 'it is back' });
  const after = await reserve(node, list, 300);
  assert.equal(after.taken.length, 150, 'what was let through before was told anew');
  for (const { taken } of [...decided, after])
    for (const one of taken)
      one.settle(one.kind === 'taken' ? { requests: 1, tokens: 0, items: 0 } : { requests: 0, tokens: 0, items: 0 });
  await until(
    async () => {
      return isEmpty(await redis.send('KEYS', `postern:{limits}:*:open:key:${list[0]?.id}`));
    },
    { what: 'nothing is open' },
  );
});

test('uses the password and database number, and logs neither', async (t) => {
  const redis = await startOwnRedis(t, { args: ['--requirepass', 'correct-horse'] });
  if (redis === undefined) return;
  const address = `127.0.0.1:${redis.port}`;
  const node = await startNode(t, `redis://:correct-horse@${address}/3`);
  assert.equal(node.isShared, true);
  const stranger = await startNode(t, redis.url);
  const wrong = await startNode(t, `redis://user:not-correct-horse@${address}/3`);
  for (const { isShared, lines } of [stranger, wrong]) {
    assert.equal(isShared, false);
    assert.equal(lines.length, 1);
    assert.ok(!lines.some(({ text }) => text.includes('horse')));
  }
  const list = [holder('key', unique('key'), { rates: [requestsAMinute(5)] })];
  assert.equal((await reserve(stranger, list, 10)).taken.length, 2, 'one that has not reached it is not alone');
});

test('every key in Redis has an expiry', async (t) => {
  const redis = await startOwnRedis(t);
  if (redis === undefined) return;
  const node = await startNode(t, redis.url);
  const day: Rate = { measure: 'items', window: 'day', most: 1_000 };
  const list = [holder('key', unique('key'), { rates: [requestsAMinute(5), tokensAMinute(100), day], concurrency: 5 })];
  const { taken } = await reserve(node, list, 3, { requests: 1, tokens: 5, items: 2 });
  taken[0]?.settle({ requests: 1, tokens: 9, items: 2 });
  const keys = await redis.send('KEYS', '*');
  assert.ok(Array.isArray(keys) && keys.length === 6, String(keys));
  for (const key of keys) {
    assert.match(String(key), /^postern:\{limits\}:/);
    assert.ok(Number(await redis.send('PTTL', String(key))) > 0, String(key));
  }
});
