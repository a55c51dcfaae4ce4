import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { localhostCertificate, localhostKey } from '../../../test/support/upstreams/localhost-certificate.ts';
import { callThrough } from '../../../test/support/upstreams/pool-call.ts';
import { toUpstream } from '../../../test/support/upstreams/upstream.ts';
import type { Upstream } from '../../core/snapshot.ts';
import { createAddressRule } from '../../lib/addresses/address-rule.ts';
import type { ClientCall } from '../../wire/client-call.ts';
import { ClientPool } from '../../wire/client-pool.ts';
import { createDirectConnector, TlsClient } from '../../wire/connect.ts';
import { Wheel } from '../../wire/wheel.ts';
import { createPools } from '../connections/pools.ts';
import { createProxyRule } from '../connections/proxy-rule.ts';
import { EndpointCall } from './endpoint-call.ts';
import { type EndpointChange, EndpointSet } from './endpoint-set.ts';
import { EndpointLookUp } from './look-up.ts';

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The first endpoint of an upstream. */
async function callFirst(t: TestContext, upstream: Upstream) {
  const pools = createPools();
  t.after(() => pools.close());
  const [endpoint] = pools.endpointsOf(upstream)?.all ?? [];
  assert.ok(endpoint !== undefined);
  return callThrough(endpoint.pool);
}

test('an endpoint is refused if the address policy does not permit it', async (t) => {
  const port = await listen(
    t,
    createHttpServer((_request, response) => void response.end('ok')),
  );
  const addresses = createAddressRule({ deny: ['127.0.0.0/8'] });
  const endpoints = { from: [`127.0.0.1:${port}`], zone: [] };
  const { error } = await callFirst(t, toUpstream('http://inner.test', { addresses, endpoints }));
  assert.match(String(error), /address not allowed: 127\.0\.0\.1/);
});

test("an endpoint's certificate must have the name in base_url", async (t) => {
  const server = createHttpsServer(
    { cert: localhostCertificate, key: localhostKey },
    (_request, response) => void response.end('ok'),
  );
  const port = await listen(t, server);
  const tls = { ca: localhostCertificate, cert: undefined, key: undefined, serverName: undefined };
  const endpoints = { from: [`127.0.0.1:${port}`], zone: [] };
  assert.equal((await callFirst(t, toUpstream('https://localhost', { tls, endpoints }))).status, 200);
  const { error } = await callFirst(t, toUpstream('https://other.test', { tls, endpoints }));
  assert.match(String(error), /ERR_TLS_CERT_ALTNAME_INVALID|does not match/);
});

test('an upstream behind a proxy has no endpoints, because the proxy resolves names', (t) => {
  const pools = createPools({ proxyFor: createProxyRule({ http_proxy: 'http://127.0.0.1:1' }) });
  t.after(() => pools.close());
  const endpoints = { from: ['10.0.0.1'], zone: [] };
  assert.equal(pools.endpointsOf(toUpstream('http://inner.test', { endpoints })), undefined);
});

test("a call's wait for a connection includes the time spent on an endpoint that could not be reached", async (t) => {
  const port = await listen(
    t,
    createHttpServer((_request, response) => void response.end('ok')),
  );
  const direct = createDirectConnector({ tcp: {}, tls: new TlsClient({}), timeoutMs: 5_000 });
  let first = 0;
  const set = new EndpointSet(undefined, {
    random: () => first,
    openPool: ({ host }) =>
      new ClientPool({
        server: { secure: false, host: '127.0.0.1', port },
        host,
        connect: host === 'gone' ? (_server, done) => void setImmediate(done, new Error('gone')) : direct,
        connections: 1,
        wheel: new Wheel(1000),
      }),
    onChange() {},
    onUnreachable() {},
  });
  t.after(() => set.destroy());
  set.adopt([{ host: 'gone' }, { host: 'there' }], 80);
  const hasWaited = async (index: number): Promise<boolean> => {
    first = index / 2;
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const reader = {
      call: undefined as ClientCall | undefined,
      onStart: () => resolve(reader.call?.waitsSinceMs !== undefined),
      onSent() {},
      onFirstByte() {},
      onHead() {},
      onBody() {},
      onEnd: () => through.over(undefined),
      onError: reject,
    };
    const free = Promise.withResolvers<void>();
    const end = { over: () => free.resolve() };
    const request = { method: 'GET', path: '/', headers: [] };
    const through = new EndpointCall(set, request, end, { onOutcome() {} });
    through.begin(reader);
    const found = await promise;
    await free.promise;
    return found;
  };
  // The second call is the first that has one open and free.
  assert.deepEqual([await hasWaited(1), await hasWaited(1), await hasWaited(0)], [true, false, true]);
});

/** Endpoints without connections. */
function setOf(hosts: readonly string[], random: () => number) {
  const changes: EndpointChange[] = [];
  const openPool = () =>
    new ClientPool({
      server: { secure: false, host: '', port: 0 },
      host: '',
      connect: () => undefined,
      connections: 1,
      wheel: new Wheel(1000),
    });
  const set = new EndpointSet(undefined, {
    random,
    openPool,
    onChange: (change) => void changes.push(change),
    onUnreachable() {},
  });
  set.adopt(
    hosts.map((host) => ({ host })),
    80,
  );
  return { set, changes };
}

test('in any order of failures, a working endpoint is chosen if there is one, and none twice per call', () => {
  const event = fc.record({
    at: fc.nat(5),
    kind: fc.constantFrom('broke', 'failed', 'succeeded'),
    afterMs: fc.nat(5000),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(event, { maxLength: 60 }), (count, events) => {
      const { set } = setOf(
        Array.from({ length: count }, (_, index) => `10.0.0.${index}`),
        Math.random,
      );
      let nowMs = 0;
      for (const { at, kind, afterMs } of events) {
        nowMs += afterMs;
        const endpoint = set.all[at % count];
        assert.ok(endpoint !== undefined);
        const ticket = endpoint.circuit.begin(nowMs);
        if (kind === 'broke') set.broke(endpoint, ticket, 'gone', nowMs);
        else if (kind === 'failed') set.failed(endpoint, ticket, 'answered 503', true, nowMs);
        else set.succeeded(endpoint, ticket, nowMs);
        const chosen = set.choose([], nowMs);
        assert.ok(chosen !== undefined);
        if (set.all.some((one) => one.isUsable(nowMs))) assert.ok(chosen.isUsable(nowMs));
        const tried = [chosen];
        for (let next = set.choose(tried, nowMs); next !== undefined; next = set.choose(tried, nowMs)) {
          assert.ok(!tried.includes(next));
          tried.push(next);
        }
        assert.equal(tried.length, count);
      }
    }),
  );
});

test('reports an endpoint once when it enters cooldown, and once when it answers again', () => {
  const { set, changes } = setOf(['10.0.0.1', '10.0.0.2'], Math.random);
  const [endpoint] = set.all;
  assert.ok(endpoint !== undefined);
  changes.length = 0;
  for (let call = 0; call < 20; call += 1) set.broke(endpoint, endpoint.circuit.begin(0), 'gone', 0);
  for (let nowMs = 60_000; nowMs < 70_000; nowMs += 1_000)
    set.succeeded(endpoint, endpoint.circuit.begin(nowMs), nowMs);
  const [cooldown, back, ...more] = changes;
  assert.ok(cooldown?.kind === 'cooldown' && cooldown.forMs > 0);
  assert.deepEqual([cooldown.endpoint, cooldown.why], [endpoint.name, 'gone']);
  assert.ok(back?.kind === 'back' && back.endpoint === endpoint.name);
  assert.deepEqual(more, []);
});

test('calls are spread so that no endpoint is much busier than others, with six or forty endpoints', () => {
  for (const [count, most] of [
    [6, 10],
    [40, 14],
  ] as const) {
    const { set } = setOf(
      Array.from({ length: count }, (_, index) => `10.0.0.${index}`),
      Math.random,
    );
    for (let call = 0; call < 10 * count; call += 1) {
      const chosen = set.choose([], 0);
      assert.ok(chosen !== undefined);
      chosen.inFlight += 1;
    }
    assert.ok(
      set.all.every(({ inFlight }) => inFlight <= most),
      set.all.map(({ inFlight }) => inFlight).join(),
    );
  }
});

test('endpoints whose addresses stay after a new look-up keep their health', () => {
  const { set, changes } = setOf(['10.0.0.1', '10.0.0.2'], Math.random);
  const [first] = set.all;
  set.adopt([{ host: '10.0.0.3' }, { host: '10.0.0.1' }], 80);
  assert.equal(set.all[1], first);
  assert.deepEqual(changes.at(-1), { kind: 'found', count: 2, added: ['10.0.0.3:80'], gone: ['10.0.0.2:80'] });
});

test('failed calls cause a new look-up of the endpoints, one at a time', async (t) => {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const open: (() => void)[] = [];
  const lookUp = new EndpointLookUp(
    { from: 'dns', zone: [] },
    'http://tei.test',
    { lookup: (_name, _options, done) => open.push(() => done(null, [{ address: '10.0.0.1', family: 4 }])) },
    () => undefined,
  );
  t.after(() => lookUp.stop());
  open[0]?.();
  for (const looks of [2, 2]) {
    await new Promise(setImmediate);
    nowMs += 2_000;
    lookUp.hurry();
    assert.equal(open.length, looks);
  }
});
