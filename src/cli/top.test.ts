import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setUpCommand, userFault } from '../../test/support/gateways/command.ts';
import { top } from './top.ts';

const token = 'a-token-with-enough-characters';

/** An admin listener with successive metrics. */
async function startMetrics(t: TestContext, ...readings: readonly string[]): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) response.statusCode = 401;
    response.end(readings[Math.min(count, readings.length - 1)]);
    count += 1;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `http://127.0.0.1:${address.port}`;
}

const before = `# TYPE postern_lane_in_flight gauge
postern_lane_in_flight{upstream="tei",lane="interactive"} 0
postern_attempts_total{upstream="tei",outcome="answered"} 10
postern_upstream_first_byte_seconds_bucket{upstream="tei",le="0.1"} 10
postern_upstream_first_byte_seconds_bucket{upstream="tei",le="0.2"} 10
postern_upstream_first_byte_seconds_bucket{upstream="tei",le="+Inf"} 10
`;
const now = `postern_lane_in_flight{upstream="tei",lane="interactive"} 2
postern_lane_in_flight{upstream="tei",lane="bulk"} 6
postern_lane_waiting{upstream="tei",lane="bulk"} 40
postern_lane_in_flight{upstream="a \\"b\\"",lane="interactive"} 0
postern_upstream_learned_limit{upstream="tei"} 9
postern_endpoint_up{upstream="tei",endpoint="10.0.0.1:80"} 1
postern_endpoint_up{upstream="tei",endpoint="10.0.0.2:80"} 0
postern_attempts_total{upstream="tei",outcome="answered"} 110
postern_upstream_first_byte_seconds_bucket{upstream="tei",le="0.1"} 100
postern_upstream_first_byte_seconds_bucket{upstream="tei",le="0.2"} 110
postern_upstream_first_byte_seconds_bucket{upstream="tei",le="+Inf"} 110
`;

test('top --once --json prints the difference between two readings of the metrics', async (t) => {
  const { run } = await setUpCommand(t, top, { console: { token } });
  const { lines } = await run('--once', '--json', '--url', await startMetrics(t, before, now));
  assert.equal(lines.length, 1);
  const { upstreams } = JSON.parse(lines[0] ?? '');
  const [{ calls_per_second: calls, ...tei }, other] = upstreams;
  assert.ok(calls > 0 && calls <= 100);
  assert.deepEqual(tei, {
    upstream: 'tei',
    first_byte_p95_ms: 150,
    learned_limit: 9,
    endpoints: 2,
    endpoints_up: 1,
    lanes: {
      interactive: { in_flight: 2, waiting: 0, wait_p95_ms: null },
      bulk: { in_flight: 6, waiting: 40, wait_p95_ms: null },
    },
  });
  assert.equal(other.upstream, 'a "b"');
});

test('top --once prints a table with one line for each upstream and lane', async (t) => {
  const { run } = await setUpCommand(t, top, { console: { token } });
  const { lines } = await run('--once', '--url', await startMetrics(t, before, now));
  assert.match(lines[0] ?? '', /^UPSTREAM +LANE +IN FLIGHT +WAITING/);
  assert.match(lines[1] ?? '', /^tei +interactive +2 +0 +- +150 ms +[\d.]+ +9 +1 of 2 up$/);
  assert.match(lines[2] ?? '', /^ +bulk +6 +40/);
});

test('top reports an unreachable gateway, and a wrong console token', async (t) => {
  const { run } = await setUpCommand(t, top, { console: { token } });
  await assert.rejects(run('--once', '--url', 'http://127.0.0.1:1'), userFault(/no gateway answers at 127\.0\.0\.1:1/));
  await assert.rejects(run('--once', '--url', 'nowhere'), userFault(/--url wants/));
  const other = await setUpCommand(t, top, { console: { token: 'another-token-of-enough-characters' } });
  await assert.rejects(
    other.run('--once', '--url', await startMetrics(t, now)),
    userFault(/answers 401; see console.token/),
  );
  const gateway = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  t.after(() => gateway.close());
  await once(gateway, 'listening');
  const { port } = gateway.address() as AddressInfo;
  await assert.rejects(
    run('--once', '--url', `http://127.0.0.1:${port}`),
    userFault(/answers 404; --url wants the admin/),
  );
});
