import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type TestContext, test } from 'node:test';
import { Exchange } from '../../core/exchange.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import { openTelemetry } from './otel.ts';
import { exportSettings } from './settings.ts';

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function startSink(t: TestContext, status = 200) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    received.push({ url: request.url, headers: request.headers, body: Buffer.concat(pieces).toString('latin1') });
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { received, url: `http://127.0.0.1:${port}` };
}

async function open(endpoint: string, env: Record<string, string> = {}) {
  const warnings: string[] = [];
  const settings = exportSettings(
    { endpoint, headers: { 'x-tenant': 'one' }, sample: 1, keys: new Set() },
    { OTEL_BSP_SCHEDULE_DELAY: '10', ...env },
  );
  assert.ok(settings);
  const telemetry = await openTelemetry(settings, {
    log: { warn: (message) => void warnings.push(message) },
    version: '1.2.3',
    instance: 'here',
    readMetrics: () => ({ postern_workers: { '': 1 } }),
    random: Math.random,
  });
  return { warnings, ...telemetry };
}

function exchanged(): Exchange {
  const snapshot = { otel: undefined, server: { logClientAddress: false } } as unknown as Snapshot;
  const exchange = new Exchange('the-id', undefined, snapshot, Date.now(), performance.now());
  exchange.path = '/v1/embeddings';
  exchange.status = 200;
  return exchange;
}

const noHeaders = { get: () => undefined, has: () => false };

test('spans and metrics are exported, at the latest on shutdown', async (t) => {
  const { received, url } = await startSink(t);
  const { tracer, close, warnings } = await open(`${url}/`);
  const exchange = exchanged();
  tracer?.began(exchange, noHeaders);
  tracer?.settled(exchange, 'POST');
  await close();
  const byUrl = new Map(received.map((one) => [one.url, one]));
  assert.deepEqual([...byUrl.keys()].sort(), ['/v1/metrics', '/v1/traces']);
  for (const { headers, body } of received) {
    assert.deepEqual([headers['content-type'], headers['x-tenant']], ['application/x-protobuf', 'one']);
    for (const said of ['postern', '1.2.3', 'here']) assert.ok(body.includes(said), said);
  }
  assert.ok(byUrl.get('/v1/traces')?.body.includes('POST /v1/embeddings'));
  assert.ok(byUrl.get('/v1/metrics')?.body.includes('postern_workers'));
  assert.deepEqual(warnings, []);
});

test('traces or metrics can be disabled separately', async (t) => {
  const { received, url } = await startSink(t);
  const { tracer, close } = await open(url, { OTEL_TRACES_EXPORTER: 'none' });
  assert.equal(tracer, undefined);
  await close();
  assert.deepEqual(
    received.map((one) => one.url),
    ['/v1/metrics'],
  );
});

test('a refusal by the collector is logged once, however often it repeats', async (t) => {
  const { received, url } = await startSink(t, 400);
  const { tracer, close, warnings } = await open(url, { OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' });
  for (let i = 0; i < 3; i += 1) {
    const exchange = exchanged();
    tracer?.began(exchange, noHeaders);
    tracer?.settled(exchange, 'POST');
  }
  await close();
  assert.ok(received.length > 1);
  assert.deepEqual(warnings, ['telemetry export failed']);
});
