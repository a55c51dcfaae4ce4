/** One upstream at several addresses: calls are spread over them, and one that fails or goes costs no client an error. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { atOnce } from '../../src/lib/time-slices.ts';
import type { LookUpDeps } from '../../src/upstream/endpoints/look-up.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { patiently } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';

const answer = '{"data":[{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":1,"total_tokens":1}}';

/** A server that ends as inference servers do: it takes nothing new, and what it has begun it finishes. */
class Pod {
  readonly host: string;
  readonly hosts: string[] = [];
  calls = 0;
  /** In place of a good answer. */
  status = 200;
  #server: Server | undefined = undefined;

  constructor(host: string) {
    this.host = host;
  }

  async start(port = 0): Promise<number> {
    this.#server = createServer((request, response) => {
      this.calls += 1;
      this.hosts.push(request.headers.host ?? '');
      request.resume().on('end', () => {
        setTimeout(() => {
          response.statusCode = this.status;
          response.setHeader('content-type', 'application/json');
          if (this.#server === undefined) response.setHeader('connection', 'close');
          response.end(answer);
        }, 5);
      });
    }).listen(port, this.host);
    await once(this.#server, 'listening');
    const address = this.#server.address();
    assert.ok(address !== null && typeof address === 'object');
    return address.port;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await closed;
  }

  /** Its process is killed. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
}

const hostsOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`);

/** All at one port, as pods are. */
async function startPods(t: TestContext, count: number): Promise<{ pods: Pod[]; port: number }> {
  const pods = hostsOf(count).map((host) => new Pod(host));
  t.after(() => Promise.all(pods.map((pod) => pod.kill())));
  const port = (await pods[0]?.start()) ?? 0;
  for (const pod of pods.slice(1)) await pod.start(port);
  return { pods, port };
}

/** A name server with the answers of the test. */
function names(): LookUpDeps & { addresses: string[]; fails: boolean; asked: number } {
  const said = {
    addresses: [] as string[],
    fails: false,
    asked: 0,
    everyMs: 20,
    lookup: ((_name, _options, done) => {
      said.asked += 1;
      if (said.fails) done(new Error('no answer of the name server'), []);
      else
        done(
          null,
          said.addresses.map((address) => ({ address, family: 4 })),
        );
    }) as NonNullable<LookUpDeps['lookup']>,
  };
  return said;
}

async function start(
  t: TestContext,
  url: string,
  more: Readonly<Record<string, unknown>>,
  endpointLookUp?: LookUpDeps,
): Promise<Rig & { embed(): Promise<number>; shown(): string[] }> {
  const document = toDocument(url, { timeouts: { connect: patiently(500) }, ...more }, {}, { retry: { attempts: 3 } });
  const rig = await startRig(t, { ...document, server: {} }, {}, { endpointLookUp });
  const shown = (): string[] => (atOnce(rig.app.targets())[0]?.endpoints ?? []).map(({ endpoint }) => endpoint);
  return {
    ...rig,
    embed: async () => (await rig.post('/v1/embeddings', '{"model":"m","input":"x"}')).status,
    shown,
  };
}

/** Clients that send requests in a row until stopped; returns their statuses. */
function load(rig: { embed(): Promise<number> }, clients: number): () => Promise<number[]> {
  let isOver = false;
  const statuses: number[] = [];
  const client = async (): Promise<void> => {
    while (!isOver) statuses.push(await rig.embed());
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return async () => {
    isOver = true;
    await all;
    return statuses;
  };
}

test("calls are balanced over the listed endpoints, with base_url's host name in each", async (t) => {
  const { pods, port } = await startPods(t, 6);
  const rig = await start(t, `http://tei.test:${port}/v1`, { endpoints: hostsOf(6) });
  await Promise.all(Array.from({ length: 60 }, () => rig.embed()));
  for (const { calls } of pods) assert.ok(calls >= 2 && calls <= 30, pods.map((pod) => pod.calls).join());
  assert.deepEqual(new Set(pods.flatMap(({ hosts }) => hosts)), new Set([`tei.test:${port}`]));
});

test('a rolling restart of six endpoints under load causes no client error', async (t) => {
  const { pods, port } = await startPods(t, 6);
  const rig = await start(t, 'http://127.0.0.1:1/v1', { endpoints: hostsOf(6).map((host) => `${host}:${port}`) });
  const end = load(rig, 12);
  for (const pod of pods) {
    const before = pod.calls;
    await until(() => pod.calls > before);
    await pod.stop();
    await wait(30);
    await pod.start(port);
    // The next one follows when this one is back.
    const calls = pod.calls;
    await until(() => pod.calls > calls);
  }
  const statuses = await end();
  assert.deepEqual(
    statuses.filter((status) => status !== 200),
    [],
  );
});

test('endpoints follow DNS changes, without a client error', async (t) => {
  const { pods, port } = await startPods(t, 6);
  const dns = names();
  dns.addresses = hostsOf(3);
  const rig = await start(t, `http://tei.test:${port}/v1`, { endpoints: 'dns' }, dns);
  const end = load(rig, 6);
  await until(() => pods.slice(0, 3).every(({ calls }) => calls > 0));
  dns.addresses = hostsOf(6).slice(3);
  await until(() => rig.shown().length === 3 && rig.shown().includes(`127.0.0.6:${port}`));
  await Promise.all(pods.slice(0, 3).map((pod) => pod.stop()));
  await until(() => pods.slice(3).every(({ calls }) => calls > 0));
  dns.fails = true;
  const { asked } = dns;
  await until(() => dns.asked > asked + 2);
  assert.equal(rig.shown().length, 3);
  assert.deepEqual(new Set(await end()), new Set([200]));
});

test('an endpoint killed during calls enters cooldown, and replayable requests succeed', async (t) => {
  const { pods, port } = await startPods(t, 3);
  const rig = await start(t, 'http://127.0.0.1:1/v1', { endpoints: hostsOf(3).map((host) => `${host}:${port}`) });
  const end = load(rig, 9);
  await until(() => pods.every(({ calls }) => calls > 5));
  await pods[0]?.kill();
  await until(() => atOnce(rig.app.targets())[0]?.endpoints?.some(({ isUp }) => !isUp) === true);
  const others = pods[1]?.calls ?? 0;
  await until(() => (pods[1]?.calls ?? 0) > others + 20);
  assert.deepEqual(new Set(await end()), new Set([200]));
  const [state] = atOnce(rig.app.targets());
  assert.equal(state?.state, 'healthy');
});

test('a host with several private addresses has an endpoint for each by default', async (t) => {
  const { pods, port } = await startPods(t, 2);
  const dns = names();
  dns.addresses = hostsOf(2);
  const rig = await start(t, `http://tei.test:${port}/v1`, {}, dns);
  assert.deepEqual([rig.shown(), dns.asked], [[], 0], 'nobody is looked up before the first call');
  await rig.embed();
  await until(() => rig.shown().length === 2);
  for (let count = 0; count < 20; count += 1) await rig.embed();
  assert.ok(pods.every(({ calls }) => calls > 0));
});

test('with endpoints: off each connection resolves the host itself', async (t) => {
  const { port } = await startPods(t, 2);
  const dns = names();
  dns.addresses = hostsOf(2);
  const rig = await start(t, `http://tei.test:${port}/v1`, { endpoints: 'off' }, dns);
  assert.equal(await rig.embed(), 200);
  await wait(50);
  assert.deepEqual(rig.shown(), []);
});

test('endpoints from SRV records have their own ports', async (t) => {
  const { pods, port } = await startPods(t, 2);
  const dns = names();
  const asked: string[] = [];
  const resolveSrv = async (name: string) => {
    asked.push(name);
    return hostsOf(2).map((host) => ({ name: host, port, priority: 0 }));
  };
  const lookup: NonNullable<LookUpDeps['lookup']> = (name, _options, done) =>
    done(null, [{ address: name, family: 4 }]);
  const rig = await start(t, 'http://tei.test:1/v1', { endpoints: 'srv' }, { ...dns, lookup, resolveSrv });
  await until(() => rig.shown().length === 2);
  for (let count = 0; count < 20; count += 1) assert.equal(await rig.embed(), 200);
  assert.ok(pods.every(({ calls }) => calls > 0));
  assert.equal(asked[0], '_http._tcp.tei.test');
});

test('endpoints of the same zone are preferred while at least half of them work', async (t) => {
  const { pods, port } = await startPods(t, 3);
  const endpoints = hostsOf(3).map((host) => `${host}:${port}`);
  const rig = await start(t, 'http://127.0.0.1:1/v1', { endpoints, endpoint_zone: ['127.0.0.2/31'] });
  for (let count = 0; count < 20; count += 1) await rig.embed();
  assert.equal(pods[0]?.calls, 0);
  await Promise.all([pods[1]?.kill(), pods[2]?.kill()]);
  for (let count = 0; count < 5; count += 1) assert.equal(await rig.embed(), 200);
  assert.ok((pods[0]?.calls ?? 0) >= 5);
});

test('an endpoint with a failing health check is not called', async (t) => {
  const { pods, port } = await startPods(t, 2);
  const rig = await start(t, 'http://127.0.0.1:1/v1', {
    endpoints: hostsOf(2).map((host) => `${host}:${port}`),
    health_check: { path: '/health', interval: '100ms' },
  });
  const [sick, well] = pods;
  assert.ok(sick !== undefined && well !== undefined);
  sick.status = 500;
  await until(() => atOnce(rig.app.targets())[0]?.endpoints?.some(({ isUp }) => !isUp) === true);
  for (let count = 0; count < 10; count += 1) assert.equal(await rig.embed(), 200);
  sick.status = 200;
  await until(() => atOnce(rig.app.targets())[0]?.endpoints?.every(({ isUp }) => isUp) === true);
});
