/** Warm-up before the port opens: no client, upstream, log, metric or ledger row shows that it took place. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { openStore } from '../../src/store/open-store.ts';
import { parseExposition } from '../support/clients/exposition.ts';
import { request } from '../support/clients/raw-client.ts';
import { type GatewayProcess, standardStore, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { question, toDocument } from '../support/gateways/pair.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { embeds } from '../support/upstreams/list-service.ts';

async function start(
  t: TestContext,
  warmUp: string,
  server: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly gateway: GatewayProcess; readonly upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream(embeds);
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    config: { ...toDocument(upstream.url), log: { level: 'debug' }, server },
    env: { POSTERN_WARM_UP: warmUp },
  });
  t.after(() => gateway.stop());
  return { gateway, upstream };
}

const warmUps = (gateway: GatewayProcess): number =>
  gateway.log().filter(({ msg, requests }) => msg === 'warm-up finished' && typeof requests === 'number').length;

/** No access line, and no step of a request. */
function assertNoRequest(gateway: GatewayProcess): void {
  const lines = gateway.log().filter(({ id }) => id !== undefined);
  assert.deepEqual(lines, []);
}

async function readMetrics(gateway: GatewayProcess) {
  const { console } = gateway.log().find(({ msg }) => msg === 'listening') ?? {};
  return parseExposition(await (await fetch(`${String(console)}/metrics`)).text());
}

test('a gateway that was warmed up shows no trace of it, and counts its first request as one', async (t) => {
  const { gateway, upstream } = await start(t, 'on');
  assert.equal(warmUps(gateway), 1);
  assert.deepEqual(upstream.requests, []);
  assertNoRequest(gateway);
  const counted = [...(await readMetrics(gateway)).families]
    .filter(([name, { type }]) => name.startsWith('postern_') && type !== 'gauge')
    .flatMap(([, { samples }]) => samples.filter(({ value }) => value !== 0));
  assert.deepEqual(counted, []);

  const headers: [string, string][] = [['Authorization', `Bearer ${gateway.key}`]];
  const { status } = await request({ port: gateway.port, path: '/v1/embeddings', headers, body: question });
  assert.equal(status, 200);
  assert.equal(upstream.requests.length, 1);
  assert.equal((await readMetrics(gateway)).sum('postern_requests_total'), 1);
  gateway.signal('SIGTERM');
  await gateway.exited;
  assert.deepEqual((await readdir(gateway.directory)).sort(), ['journal', 'postern.db', 'postern.json', 'setup-link']);
  const store = await openStore(standardStore, { cwd: gateway.directory });
  t.after(() => store.close());
  const { rows } = await store.ledger.page({}, { limit: 10 });
  assert.deepEqual(
    rows.map(({ model }) => model),
    ['m'],
  );
  assert.equal(gateway.log().filter(({ msg }) => msg === 'request').length, 1);
});

test('with POSTERN_WARM_UP=off there is no warm-up', async (t) => {
  const { gateway } = await start(t, 'off');
  assert.equal(warmUps(gateway), 0);
});

test('each of two workers warms itself up, without a request to an upstream or a ledger row', async (t) => {
  const { gateway, upstream } = await start(t, 'on', { workers: 2 });
  gateway.signal('SIGTERM');
  await gateway.exited;
  assert.equal(warmUps(gateway), 2);
  assert.deepEqual(upstream.requests, []);
  assertNoRequest(gateway);
});
