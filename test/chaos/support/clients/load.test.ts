import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRequestBytes } from '../../../support/clients/raw-client.ts';
import { startFakeUpstream } from '../../../support/upstreams/fake-upstream.ts';
import { type LoadWindow, runLoad, startLoad } from './load.ts';

const requests = [toRequestBytes({ path: '/', body: '{}' })];

test('a closed loop sends the given number of requests over reused connections', async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const report = await runLoad(t, { port: upstream.port, requests, connections: 4, maxRequests: 100, maxMs: 10_000 });
  assert.equal(report.answered, 100);
  assert.equal(upstream.requests.length, 100);
  assert.deepEqual(report.statuses, { 200: 100 });
  assert.ok(upstream.connections().accepted <= 4);
  assert.ok(report.latency.p50Ms > 0 && report.latency.p50Ms <= report.latency.maxMs);
});

test('an open loop measures each latency from the time at which the request was due, not sent', async (t) => {
  const upstream = await startFakeUpstream(async (_request, reply) => {
    await reply.sleep(60);
    await reply.json(200, {});
  });
  t.after(() => upstream.close());
  const report = await runLoad(t, {
    port: upstream.port,
    requests,
    connections: 1,
    ratePerSecond: 100,
    maxRequests: 5,
    maxMs: 10_000,
  });
  assert.equal(report.answered, 5);
  // The fifth was due at 40 ms and waited for four answers of 60 ms.
  assert.ok(report.latency.maxMs > 5 * 60 - 40 - 5, String(report.latency.maxMs));
});

test('failures are counted by status or as broken, each with a line of detail', async (t) => {
  const upstream = await startFakeUpstream([
    (_request, reply) => reply.json(503, { error: 'no' }),
    (_request, reply) => reply.reset(),
    (_request, reply) => reply.stall(),
    (_request, reply) => reply.raw('HTTP/1.1 200 OK\r\nContent-Length: 01\r\n\r\nx'),
    (_request, reply) => reply.json(200, {}),
  ]);
  t.after(() => upstream.close());
  const report = await runLoad(t, {
    port: upstream.port,
    requests,
    connections: 1,
    maxRequests: 6,
    maxMs: 10_000,
    answerTimeoutMs: 2_000,
  });
  assert.equal(report.sent, 6);
  assert.deepEqual(report.statuses, { 200: 2, 503: 1 });
  assert.equal(report.broken, 3);
  const [refusal = '', reset = '', late = '', malformed = ''] = report.failures;
  assert.match(refusal, /^503 \{"error":"no"\}$/);
  assert.match(reset, /ECONNRESET, before an answer, request 2/);
  assert.match(late, /no whole answer within 2000 ms/);
  assert.match(malformed, /a malformed answer: a Content-Length of "01"/);
});

test('a load without an end stops on request, and clients that disconnect are counted as abandoned', async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const load = startLoad(t, {
    port: upstream.port,
    requests,
    connections: 4,
    maxMs: 60_000,
    abandon: { share: 0.2, withinMs: 0, seed: 3 },
  });
  while (load.answered < 100) await new Promise((resolve) => setTimeout(resolve, 5));
  const report = await load.stop();
  assert.ok(report.abandoned > 0);
  assert.equal(report.broken, 0);
  assert.equal(report.sent, report.answered + report.abandoned);
});

test('reports every window while the load runs', async (t) => {
  const upstream = await startFakeUpstream([
    (_request, reply) => reply.json(503, {}),
    (_request, reply) => reply.reset(),
    (_request, reply) => reply.json(200, {}),
  ]);
  t.after(() => upstream.close());
  const windows: LoadWindow[] = [];
  const load = startLoad(
    t,
    { port: upstream.port, requests, connections: 2, pauseMs: 1, maxMs: 60_000 },
    { windowMs: 20, onWindow: (window) => windows.push(window) },
  );
  const total = (count: (window: LoadWindow) => number): number => windows.reduce((sum, one) => sum + count(one), 0);
  while (total(({ answered }) => answered) < 50 || windows.length < 3)
    await new Promise((resolve) => setTimeout(resolve, 5));
  const { answered } = await load.stop();
  assert.ok(total((window) => window.answered) <= answered);
  assert.equal(
    total((window) => window.failed),
    2,
  );
  assert.ok(windows.some(({ p99Ms }) => p99Ms > 0));
});
