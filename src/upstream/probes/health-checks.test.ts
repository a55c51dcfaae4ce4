import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createFakeClock, type FakeClock } from '../../../test/support/time/fake-clock.ts';
import { patientMs } from '../../../test/support/time/patience.ts';
import { until } from '../../../test/support/time/until.ts';
import type { Reply } from '../../../test/support/upstreams/fake-reply.ts';
import { type FakeUpstream, type Script, startFakeUpstream } from '../../../test/support/upstreams/fake-upstream.ts';
import { callThrough } from '../../../test/support/upstreams/pool-call.ts';
import { toUpstream, type UpstreamParts } from '../../../test/support/upstreams/upstream.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { systemClock } from '../../lib/clock.ts';
import { createPools, type Pools } from '../connections/pools.ts';
import { createHealthChecks, type HealthChecks } from './health-checks.ts';

interface Result {
  readonly upstream: Upstream;
  readonly ok: boolean;
  readonly why: string | undefined;
}

interface Bench {
  readonly checks: HealthChecks;
  readonly pools: Pools;
  readonly results: Result[];
  /** Waits for that number of results. */
  result(count: number): Promise<Result>;
}

function createBench(t: TestContext, { clock = systemClock, random = (): number => 0 } = {}): Bench {
  const pools = createPools();
  const results: Result[] = [];
  const onResult = (upstream: Upstream, ok: boolean, why: string | undefined) => results.push({ upstream, ok, why });
  const checks = createHealthChecks({ pools, clock, installation: 'installation', onResult, random });
  t.after(() => {
    checks.close();
    return pools.close();
  });
  return {
    checks,
    pools,
    results,
    async result(count) {
      for (let i = 0; i < 1_000; i += 1) {
        const result = results[count - 1];
        if (result !== undefined) return result;
        await wait(10);
      }
      throw new Error(`${results.length} results came, and not ${count}`);
    },
  };
}

async function startUpstream(t: TestContext, script?: Script): Promise<FakeUpstream> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  return upstream;
}

function checked(origin: string, intervalMs = 60_000, timeoutMs = 2_000, parts: UpstreamParts = {}): Upstream {
  return toUpstream(origin, { healthCheck: { path: '/health?deep=1', intervalMs, timeoutMs }, ...parts });
}

test("a health check requests the path at the origin with the first credential and Postern's user agent", async (t) => {
  const fake = await startUpstream(t);
  const { checks, result } = createBench(t);
  const [first] = toUpstream('').credentials;
  const second = { ...first, id: 'second', headers: ['authorization', 'Bearer sk-second'] };
  const upstream = checked(fake.url, 60_000, 2_000, { credentials: [first, second] });
  checks.watch([upstream, toUpstream(fake.url, { id: 'unchecked' })]);
  assert.deepEqual(await result(1), { upstream, ok: true, why: undefined });
  assert.equal(fake.requests.length, 1);
  const [request] = fake.requests;
  assert.equal(request?.method, 'GET');
  assert.equal(request?.path, '/health?deep=1');
  assert.equal(request?.header('authorization'), 'Bearer sk-test');
  assert.equal(request?.header('user-agent'), 'postern');
  assert.equal(request?.header('x-postern-loop'), 'installation');
  assert.equal(request?.header('content-length'), undefined);
  assert.equal(request?.body.length, 0);
});

test('only a success status passes; a redirect, error, broken or missing response fails', async (t) => {
  const rows: [Script, boolean, RegExp | undefined][] = [
    [(_request, reply) => reply.bytes(204, [], ''), true, undefined],
    [(_request, reply) => reply.bytes(304, [], ''), false, /^status 304$/],
    [(_request, reply) => reply.bytes(302, [['Location', '/login']], ''), false, /^status 302$/],
    [(_request, reply) => reply.json(404, {}), false, /^status 404$/],
    [(_request, reply) => reply.json(503, {}), false, /^status 503$/],
    [(_request, reply) => reply.reset(), false, /ECONNRESET/],
    [(_request, reply) => reply.raw('no HTTP\r\n\r\n'), false, /BadAnswerError/],
    [() => undefined, false, /^no answer within [\d.]+ s$/],
    [
      (_request, reply) => reply.raw('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
      false,
      /^no answer within [\d.]+ s$/,
    ],
    [
      async (_request, reply) => {
        await reply.raw('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
        reply.cut();
      },
      false,
      /other side closed/,
    ],
  ];
  for (const [script, ok, why] of rows) {
    const fake = await startUpstream(t, script);
    const { checks, result } = createBench(t);
    checks.watch([checked(fake.url, 60_000, patientMs(25))]);
    const found = await result(1);
    assert.equal(found.ok, ok);
    if (why === undefined) assert.equal(found.why, undefined);
    else assert.match(found.why ?? '', why);
  }
  const gone = await startFakeUpstream();
  await gone.close();
  const { checks, result } = createBench(t);
  checks.watch([checked(gone.url)]);
  assert.match((await result(1)).why ?? '', /ECONNREFUSED/);
});

test('does not read a long body to its end', async (t) => {
  const fake = await startUpstream(t, async (_request, reply) => {
    await reply.raw('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
    await reply.raw(Buffer.alloc(100_000));
  });
  const { checks, result } = createBench(t);
  checks.watch([checked(fake.url)]);
  assert.equal((await result(1)).ok, true);
  await until(() => fake.connections().open === 0);
});

/** Time advances only on request; sockets work all the same. */
function stopTime(t: TestContext): FakeClock {
  const clock = createFakeClock();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return {
    ...clock,
    advance(ms) {
      clock.advance(ms);
      t.mock.timers.tick(ms);
    },
  };
}

/** While timers stand still. */
async function comesTo(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}

/** For what is not to happen: rounds of the event loop. */
async function letHappen(): Promise<void> {
  for (let i = 0; i < 100; i += 1) await new Promise(setImmediate);
}

test('health checks run at each interval, never earlier or in parallel', async (t) => {
  const clock = stopTime(t);
  const held: Reply[] = [];
  const fake = await startUpstream(t, [
    (_request, reply) => reply.json(200, {}),
    (_request, reply) => held.push(reply),
    (_request, reply) => reply.json(200, {}),
  ]);
  const { checks, results } = createBench(t, { clock, random: () => 0.5 });
  checks.watch([checked(fake.url, 1_000, 60_000)]);
  await comesTo(() => results.length > 0);
  clock.advance(1_049);
  await letHappen();
  assert.equal(fake.requests.length, 1);
  clock.advance(1);
  await comesTo(() => held.length > 0);
  assert.equal(fake.requests.length, 2);

  clock.advance(2_500);
  await letHappen();
  assert.equal(fake.requests.length, 2, 'a second question while the first had no answer');
  await held[0]?.json(200, {});
  await comesTo(() => results.length > 1);
  clock.advance(1);
  await comesTo(() => fake.requests.length > 2);
  assert.deepEqual([results.length, fake.requests.length], [2, 3]);
});

test('a reload keeps the check times of unchanged upstreams, and uses new credentials', async (t) => {
  const clock = stopTime(t);
  const fake = await startUpstream(t);
  const { checks, results } = createBench(t, { clock });
  checks.watch([checked(fake.url, 1_000)]);
  await comesTo(() => results.length > 0);
  clock.advance(600);
  const [old] = toUpstream('').credentials;
  const renewed = checked(fake.url, 1_000, 2_000, {
    credentials: [{ ...old, headers: ['authorization', 'Bearer sk-new'] }],
  });
  for (let i = 0; i < 5; i += 1) checks.watch([renewed]);
  await letHappen();
  assert.equal(fake.requests.length, 1, 'a swap that changed nothing asked again');
  clock.advance(400);
  await comesTo(() => results.length > 1);
  assert.equal(fake.requests.length, 2);
  assert.equal(results[1]?.upstream, renewed);
  assert.equal(fake.requests[1]?.header('authorization'), 'Bearer sk-new');
});

test('a reload restarts changed checks, and ends removed ones', async (t) => {
  const fake = await startUpstream(t);
  const { checks, results, result } = createBench(t);
  const before = checked(fake.url);
  checks.watch([before]);
  await result(1);
  const after = toUpstream(fake.url, { healthCheck: { path: '/other', intervalMs: 20, timeoutMs: 2_000 } });
  checks.watch([after]);
  assert.equal((await result(2)).upstream, after);
  assert.equal(fake.requests.at(-1)?.path, '/other');
  checks.watch([toUpstream(fake.url)]);
  // What was sent before may still arrive.
  await wait(100);
  const asked = fake.requests.length;
  const reports = results.length;
  await wait(100);
  assert.equal(fake.requests.length, asked);
  assert.equal(results.length, reports);
});

test('close cancels a running check without a report', async (t) => {
  const fake = await startUpstream(t, () => undefined);
  const { checks, results } = createBench(t);
  checks.watch([checked(fake.url)]);
  await fake.nextRequest();
  checks.close();
  await until(() => fake.connections().open === 0);
  assert.deepEqual(results, []);
});

test('a check that fails on a stale connection is repeated at once and does not count as failed', async (t) => {
  let answered = 0;
  const fake = await startUpstream(t, async (request, reply) => {
    const first = fake.requests.filter(({ connectionNo }) => connectionNo === request.connectionNo)[0] === request;
    if (!first) {
      reply.cut();
      return;
    }
    answered += 1;
    await reply.json(200, {});
  });
  const { checks, pools, result } = createBench(t);
  const upstream = checked(fake.url);
  // Two connections that seem usable, and are not.
  await Promise.all([callThrough(pools.of(upstream)), callThrough(pools.of(upstream))]);
  checks.watch([upstream]);
  assert.deepEqual(await result(1), { upstream, ok: true, why: undefined });
  assert.equal(fake.requests.length, 5);
  assert.equal(answered, 3);
});

test('a check repeated because its connections end one after another has one deadline for all attempts', async (t) => {
  let checkRequests = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', async (bytes) => {
      const isCheck = bytes.includes('/health');
      if (isCheck) checkRequests += 1;
      await wait(200);
      if (isCheck) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { checks, pools, result } = createBench(t);
  const upstream = checked(`http://127.0.0.1:${port}`, 60_000, 500);
  await Promise.all(Array.from({ length: 20 }, () => callThrough(pools.of(upstream))));
  const idle = sockets.size;
  checks.watch([upstream]);
  assert.equal((await result(1)).why, 'no answer within 0.5 s');
  assert.ok(checkRequests < idle, `${checkRequests} requests on ${idle} connections`);
});

test('an upstream whose slots are all in use is checked nevertheless', async (t) => {
  const fake = await startUpstream(t, async (request, reply) => {
    if (request.method === 'GET') await reply.json(200, {});
  });
  const { checks, pools, result } = createBench(t);
  const upstream = checked(fake.url, 60_000, 2_000, {
    limits: { concurrency: 2, queue: 0, queueTimeoutMs: 0, bulkShare: 0.1 },
  });
  pools.keep([upstream]);
  const calls = [callThrough(pools.of(upstream)), callThrough(pools.of(upstream))];
  await fake.nextRequest();
  await fake.nextRequest();
  checks.watch([upstream]);
  assert.equal((await result(1)).ok, true);
  await fake.close();
  await Promise.all(calls);
});
