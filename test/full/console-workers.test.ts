/** The console over several worker processes: its listener is in the one that watches over them, and speaks for all. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { About, Health, LiveEvent } from '../../src/admin/contract.ts';
import { send, toRequestBytes } from '../support/clients/raw-client.ts';
import { createAccounts } from '../support/console/console-accounts.ts';
import { consoleUrl } from '../support/gateways/admin-listener.ts';
import { type GatewayProcess, standardStore, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { until } from '../support/time/until.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const key = 'process-key-with-enough-characters';
const bytes = toRequestBytes({
  path: '/v1/embeddings',
  headers: [['x-api-key', key]],
  body: { model: 'm', input: 'x' },
});

async function open(t: TestContext) {
  const upstream = await startFakeUpstream((_entry, reply) => reply.json(200, {}));
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    config: {
      server: { port: 0, workers: 2 },
      console: { port: 0 },
      store: standardStore,
      keys: [{ id: 'test', secret: key }],
      upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
      models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
    },
    readyTimeoutMs: 60_000,
  });
  t.after(() => gateway.stop());
  const url = consoleUrl(gateway);
  const owner = await createAccounts({ url, store: standardStore, cwd: gateway.directory }).get('owner');
  return { gateway, url, owner };
}

/** The events of a stream, one after the other. */
async function* follow(url: string, cookies: readonly { name: string; value: string }[], signal: AbortSignal) {
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const response = await fetch(`${url}/api/live`, { headers: { cookie }, signal });
  assert.equal(response.status, 200);
  let text = '';
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data) as LiveEvent;
    }
  }
}

/** Each on a connection of its own, so that both workers have their share. */
async function ask(gateway: GatewayProcess, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) assert.equal((await send(gateway.port, bytes)).status, 200);
}

test('the live stream counts the requests of all workers, also when one dies and is replaced', async (t) => {
  const { gateway, url, owner } = await open(t);
  const over = new AbortController();
  t.after(() => over.abort());
  const events = follow(url, owner.cookies, over.signal);
  const next = async (): Promise<LiveEvent> => {
    const { value } = await events.next();
    assert.ok(value);
    return value;
  };
  /** So many requests, and nothing that would be less than none. */
  const count = async (wanted: number): Promise<void> => {
    let seen = 0;
    while (seen < wanted) {
      for (const sample of (await next()).samples) {
        assert.ok(sample.requests >= 0 && sample.retries >= 0);
        seen += sample.requests;
      }
    }
    assert.equal(seen, wanted);
  };
  assert.equal((await next()).isHistory, true);
  while ((await next()).samples.length === 0);
  await ask(gateway, 20);
  await count(20);
  const { upstreams } = await next();
  assert.deepEqual(
    upstreams.map(({ id }) => id),
    ['up'],
  );

  const ready = () => gateway.log().filter(({ msg }) => msg === 'worker is ready');
  process.kill(Number(ready()[0]?.pid), 'SIGKILL');
  await until(() => ready().length >= 3);
  await ask(gateway, 10);
  await count(10);
});

test("the admin API's /api/about and /api/health answer for all workers", async (t) => {
  const { gateway, owner } = await open(t);
  await ask(gateway, 8);
  const about: About = await owner.ask('GET', '/api/about');
  assert.equal(about.workers, 2);
  assert.equal(about.configuration.file, gateway.configFile);
  assert.equal(about.clientUrl, gateway.url);
  assert.equal(about.store.kind, 'sqlite');
  assert.ok((about.store.bytes ?? 0) > 0);
  let health: Health = await owner.ask('GET', '/api/health');
  while (health.nodes.length < 2) {
    await wait(100);
    health = await owner.ask('GET', '/api/health');
  }
  assert.equal(health.workers, 2);
  assert.deepEqual(
    health.targets.map(({ upstream, model, state, nodes }) => [upstream, model, state, nodes]),
    [['up', 'm', 'unknown', 2]],
  );
});
