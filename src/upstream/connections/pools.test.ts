import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { LookupFunction, Server, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { patientMs } from '../../../test/support/time/patience.ts';
import { until } from '../../../test/support/time/until.ts';
import { listen } from '../../../test/support/upstreams/listen.ts';
import {
  clientCertificate,
  clientKey,
  localhostCertificate,
  localhostKey,
  upstreamCertificate,
  upstreamKey,
} from '../../../test/support/upstreams/localhost-certificate.ts';
import { callThrough } from '../../../test/support/upstreams/pool-call.ts';
import { toUpstream, type UpstreamParts } from '../../../test/support/upstreams/upstream.ts';
import type { UpstreamTls } from '../../core/snapshot.ts';
import { isStaleConnection, toFailure } from '../failures.ts';
import { createPools, type Pools } from './pools.ts';

function startPools(t: TestContext, deps: Parameters<typeof createPools>[0] = {}): Pools {
  const pools = createPools(deps);
  t.after(() => pools.close());
  return pools;
}

async function start(t: TestContext, server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(port, host);
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  return address.port;
}

const tlsWith = (parts: Partial<UpstreamTls>): UpstreamTls => ({
  ca: undefined,
  cert: undefined,
  key: undefined,
  serverName: undefined,
  ...parts,
});

const concurrent = (concurrency: number) => ({ limits: { concurrency, queue: 0, queueTimeoutMs: 0, bulkShare: 0.1 } });

/** A server that answers on request. */
async function startHolding(t: TestContext): Promise<{ url: string; held: ServerResponse[]; sockets: Set<Socket> }> {
  const held: ServerResponse[] = [];
  const sockets = new Set<Socket>();
  const server = createHttpServer((_request, response) => held.push(response));
  server.on('connection', (socket) => sockets.add(socket));
  return { url: `http://127.0.0.1:${await start(t, server)}`, held, sockets };
}

test('upstreams with equal connection settings share a pool, others do not', (t) => {
  const pools = startPools(t);
  const origin = 'https://a.test';
  const tls = () => tlsWith({ ca: localhostCertificate });
  const first = pools.of(toUpstream(origin, { tls: tls() }));
  assert.equal(pools.of(toUpstream(origin, { id: 'other', tls: tls() })), first);
  for (const [where, parts] of [
    ['https://b.test', { tls: tls() }],
    [origin, { tls: tls(), connectMs: 1_000 }],
    [origin, {}],
    [origin, { tls: tlsWith({ ca: upstreamCertificate }) }],
    [origin, { tls: tlsWith({ ca: localhostCertificate, cert: clientCertificate, key: clientKey }) }],
    [origin, { tls: tlsWith({ ca: localhostCertificate, serverName: 'a.test' }) }],
  ] satisfies [string, UpstreamParts][]) {
    assert.notEqual(pools.of(toUpstream(where, parts)), first);
  }
});

test('sequential calls use one connection', async (t) => {
  const { url, held, sockets } = await startHolding(t);
  const pool = startPools(t).of(toUpstream(url));
  for (let i = 0; i < 5; i += 1) {
    const call = callThrough(pool);
    await until(() => held.length > 0, { what: 'the call arrives' });
    held.pop()?.end(`answer ${i}`);
    assert.equal((await call).body, `answer ${i}`);
  }
  assert.equal(sockets.size, 1);
});

test("a pool opens at most its upstreams' concurrency limits, plus two each, plus one per health check", async (t) => {
  const { url, held, sockets } = await startHolding(t);
  const pools = startPools(t);
  const healthCheck = { path: '/health', intervalMs: 1_000, timeoutMs: 1_000 };
  const one = toUpstream(url, { id: 'one', ...concurrent(2) });
  const two = toUpstream(url, { id: 'two', ...concurrent(3), healthCheck });
  pools.keep([one, two, toUpstream('https://elsewhere.test', { id: 'three' })]);
  assert.equal(pools.of(one), pools.of(two));
  const calls = Array.from({ length: 13 }, () => callThrough(pools.of(one)));
  await until(() => held.length === 10, { what: 'all connections are in use' });
  await wait(50);
  assert.equal(sockets.size, 10);
  assert.equal(Number(held.length), 10, 'a call went out without a connection');
  for (let i = 0; i < calls.length; i += 1) {
    await until(() => held.length > 0, { what: 'another call arrives' });
    held.pop()?.end('done');
  }
  for (const call of calls) assert.equal((await call).body, 'done');
});

test('a reload with a new concurrency limit opens a new pool, and running calls finish on the old one', async (t) => {
  const { url, held, sockets } = await startHolding(t);
  const pools = startPools(t);
  const before = toUpstream(url, concurrent(1));
  pools.keep([before]);
  const running = callThrough(pools.of(before));
  await until(() => held.length === 1, { what: 'the call arrives' });
  const after = toUpstream(url, concurrent(3));
  const old = pools.of(before);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  pools.keep([after]);
  assert.equal(pools.of(before), old, 'an exchange that began before goes on with what it has');
  t.mock.timers.tick(119_999);
  assert.equal(old.closed, false);
  t.mock.timers.tick(1);
  t.mock.timers.reset();
  assert.equal(old.closed, true);
  const more = Array.from({ length: 3 }, () => callThrough(pools.of(after)));
  await until(() => held.length === 4, { what: 'the new calls arrive' });
  assert.equal(sockets.size, 4);
  for (const response of held) response.end('done');
  for (const call of [running, ...more]) assert.equal((await call).body, 'done');
  await until(() => old.destroyed, { what: 'the old pool is gone' });

  const late = callThrough(pools.of(before));
  await until(() => held.length === 5, { what: 'the late call arrives' });
  held[4]?.end('late');
  assert.equal((await late).body, 'late');
});

test('a pool removed by one reload and used again by the next stays open', (t) => {
  const pools = startPools(t);
  const upstream = toUpstream('https://a.test');
  const pool = pools.of(upstream);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  pools.keep([]);
  t.mock.timers.tick(100_000);
  pools.keep([toUpstream('https://a.test')]);
  t.mock.timers.tick(1_000_000);
  assert.equal(pool.closed, false);
  assert.equal(pools.of(toUpstream('https://a.test')), pool);
});

test('closing the pools ends every pool, also those of an older configuration', async (t) => {
  const pools = startPools(t);
  const older = pools.of(toUpstream('https://a.test'));
  pools.keep([]);
  const current = pools.of(toUpstream('https://b.test'));
  await pools.close();
  assert.deepEqual([older.closed, current.closed], [true, true]);
});

test('a pool opened late by a request of an older configuration is closed after two minutes', (t) => {
  const pools = startPools(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const first = pools.of(toUpstream('https://first.test'));
  pools.keep([toUpstream('https://first.test'), toUpstream('https://new.test')]);
  const late = pools.of(toUpstream('https://old.test'));
  t.mock.timers.tick(119_999);
  assert.equal(late.closed, false);
  t.mock.timers.tick(1);
  assert.deepEqual([late.closed, first.closed], [true, false]);
});

// TLS

const answerWithClient: RequestListener = (request, response) => {
  const { subject } = (request.socket as TLSSocket).getPeerCertificate();
  response.end(`hello ${subject?.CN ?? 'nobody'}`);
};

async function startTls(t: TestContext, options: ServerOptions, listener = answerWithClient): Promise<string> {
  const server = createHttpsServer(options, listener);
  server.on('tlsClientError', () => undefined);
  return `https://127.0.0.1:${await start(t, server)}`;
}

const forLocalhost = { cert: localhostCertificate, key: localhostKey };
const forUpstream = { cert: upstreamCertificate, key: upstreamKey };

test('a configured CA is trusted exclusively', async (t) => {
  const pools = startPools(t);
  const url = await startTls(t, forLocalhost);
  const call = (ca: string | undefined) => callThrough(pools.of(toUpstream(url, { tls: tlsWith({ ca }) })));
  assert.equal((await call(localhostCertificate)).body, 'hello nobody');
  for (const ca of [undefined, upstreamCertificate]) {
    const { started, error } = await call(ca);
    assert.equal(started, false);
    assert.match(toFailure(error, started).cause, /DEPTH_ZERO_SELF_SIGNED_CERT|self-signed certificate/);
  }
});

test('no environment variable disables certificate checks', async (t) => {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  t.mock.method(process, 'emitWarning', () => undefined);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.after(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  });
  const { started, error } = await callThrough(startPools(t).of(toUpstream(await startTls(t, forLocalhost))));
  assert.equal(started, false);
  assert.match(String(error), /self-signed/);
});

test('the certificate must have the configured server name, which is sent as SNI', async (t) => {
  const pools = startPools(t);
  const names: unknown[] = [];
  const url = await startTls(t, forUpstream, (request, response) => {
    names.push((request.socket as TLSSocket).servername);
    response.end('hello');
  });
  const call = (parts: Partial<UpstreamTls>) =>
    callThrough(pools.of(toUpstream(url, { tls: tlsWith({ ca: localhostCertificate, ...parts }) })));
  assert.equal((await call({ serverName: 'upstream.test' })).body, 'hello');
  assert.equal(
    (await call({ serverName: 'upstream.test', ca: upstreamCertificate })).body,
    'hello',
    'its own is enough',
  );
  assert.deepEqual(names, ['upstream.test', 'upstream.test']);
  for (const serverName of [undefined, 'other.test']) {
    const { started, error } = await call({ serverName });
    assert.equal(started, false);
    assert.match(toFailure(error, started).cause, /ERR_TLS_CERT_ALTNAME_INVALID/);
  }
});

test('sends the configured client certificate to a server that asks for one', async (t) => {
  const pools = startPools(t);
  const url = await startTls(t, { ...forLocalhost, ca: localhostCertificate, requestCert: true });
  const call = (parts: Partial<UpstreamTls>) =>
    callThrough(pools.of(toUpstream(url, { tls: tlsWith({ ca: localhostCertificate, ...parts }) })));
  assert.equal((await call({ cert: clientCertificate, key: clientKey })).body, 'hello postern');
  assert.match(String((await call({})).error), /certificate required|ECONNRESET|other side closed/);
});

test('TLS is 1.2 or later, with HTTP/1.1 only', async (t) => {
  const pools = startPools(t);
  const tls = tlsWith({ ca: localhostCertificate });
  const offered: string[][] = [];
  const current = await startTls(t, {
    ...forLocalhost,
    ALPNCallback({ protocols }) {
      offered.push(protocols);
      return 'http/1.1';
    },
  });
  assert.equal((await callThrough(pools.of(toUpstream(current, { tls })))).body, 'hello nobody');
  assert.deepEqual(offered, [['http/1.1']]);
  const weak = { ciphers: 'DEFAULT@SECLEVEL=0', minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const;
  const { started, error } = await callThrough(
    pools.of(toUpstream(await startTls(t, { ...forLocalhost, ...weak }), { tls })),
  );
  assert.equal(started, false);
  assert.match(String(error), /protocol version/);
});

// Connections that were closed

const okAnswer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Answers the first request on a connection; then runs `then` with the next. */
function answerOnceThen(then: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(okAnswer);
      socket.once('data', () => then(socket));
    });
  };
}

const closings: readonly [string, (socket: Socket) => void][] = [
  ['closed', (socket) => socket.end()],
  ['reset', (socket) => socket.resetAndDestroy()],
];

for (const [how, closeIt] of closings) {
  test(`a reused connection that is ${how} before any response byte is reported as stale`, async (t) => {
    const port = await listen(t, answerOnceThen(closeIt));
    const pool = startPools(t).of(toUpstream(`http://127.0.0.1:${port}`));
    assert.equal((await callThrough(pool)).body, 'ok');
    const { started, error } = await callThrough(pool);
    assert.equal(started, true);
    assert.equal(isStaleConnection(error), true);
    assert.equal(toFailure(error, started).code, 'upstream_unreachable');
  });

  test(`a reused TLS connection that is ${how} before any response byte is reported as stale`, async (t) => {
    let served = 0;
    const raw = new Set<Socket>();
    const server = createHttpsServer(forLocalhost, (_request, response) => {
      served += 1;
      if (served === 1) response.end('ok');
      else for (const socket of raw) closeIt(socket);
    });
    server.on('connection', (socket) => raw.add(socket));
    const url = `https://127.0.0.1:${await start(t, server)}`;
    const pool = startPools(t).of(toUpstream(url, { tls: tlsWith({ ca: localhostCertificate }) }));
    assert.equal((await callThrough(pool)).body, 'ok');
    const { started, error } = await callThrough(pool);
    assert.equal(started, true);
    assert.equal(isStaleConnection(error), true);
  });

  test(`a connection that is ${how} at its first call, or inside a response, is not reported as stale`, async (t) => {
    const tails = ['', 'HTTP/1.1 20', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 200 OK\r\n', okAnswer.slice(0, -1)];
    const cut = (tail: string) => (socket: Socket) => {
      if (tail === '') closeIt(socket);
      else socket.write(tail, () => setTimeout(closeIt, 20, socket));
    };
    for (const tail of tails) {
      const firstPort = await listen(t, (socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => cut(tail)(socket));
      });
      const first = await callThrough(startPools(t).of(toUpstream(`http://127.0.0.1:${firstPort}`)));
      assert.equal(first.started, true);
      assert.ok(first.error instanceof Error, `first call, after ${JSON.stringify(tail)}`);
      assert.equal(isStaleConnection(first.error), false, `first call, after ${JSON.stringify(tail)}`);
      if (tail === '') continue;
      const port = await listen(t, answerOnceThen(cut(tail)));
      const pool = startPools(t).of(toUpstream(`http://127.0.0.1:${port}`));
      assert.equal((await callThrough(pool)).body, 'ok');
      const second = await callThrough(pool);
      assert.ok(second.error instanceof Error, `second call, after ${JSON.stringify(tail)}`);
      assert.equal(isStaleConnection(second.error), false, `second call, after ${JSON.stringify(tail)}`);
    }
  });

  test(`a connection that the server has ${how} while idle fails no later call`, async (t) => {
    const sockets: Socket[] = [];
    const port = await listen(t, (socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write(okAnswer));
    });
    const pool = startPools(t).of(toUpstream(`http://127.0.0.1:${port}`));
    for (let i = 1; i <= 10; i += 1) {
      const { body, error } = await callThrough(pool);
      assert.equal(error, undefined);
      assert.equal(body, 'ok');
      assert.equal(sockets.length, i);
      await wait(10);
      // Sent, and still unread in the kernel at the next call.
      for (const socket of sockets) closeIt(socket);
    }
  });
}

test('a connection that the gateway itself breaks is not reported as stale', async (t) => {
  const port = await listen(
    t,
    answerOnceThen(() => undefined),
  );
  const pool = startPools(t).of(toUpstream(`http://127.0.0.1:${port}`));
  assert.equal((await callThrough(pool)).body, 'ok');
  const waiting = callThrough(pool);
  await wait(20);
  await pool.destroy();
  const { error } = await waiting;
  assert.ok(error instanceof Error);
  assert.equal(isStaleConnection(error), false);
});

test("an idle connection is closed before the server's Keep-Alive timeout", async (t) => {
  const ends: [number, number][] = [];
  const short = Math.ceil(patientMs(250) / 1_000);
  for (const seconds of [short, 2 * short]) {
    const port = await listen(t, (socket) => {
      socket.once('data', () => {
        socket.write(okAnswer.replace('\r\n', `\r\nKeep-Alive: timeout=${seconds}\r\n`));
        const timer = setTimeout(() => ends.push([seconds, 0]), seconds * 1_000);
        socket.once('end', () => {
          clearTimeout(timer);
          ends.push([seconds, socket.bytesRead]);
        });
      });
    });
    assert.equal((await callThrough(startPools(t).of(toUpstream(`http://127.0.0.1:${port}`)))).body, 'ok');
  }
  await until(() => ends.length === 2, { what: 'both are closed' });
  assert.deepEqual(
    ends.map(([seconds, bytes]) => [seconds, bytes > 0]),
    [
      [short, true],
      [2 * short, true],
    ],
    'a server had to close',
  );
});

// Addresses that change

/** A name server with one name, whose addresses can be changed. */
function createNames(...addresses: string[]): { lookup: LookupFunction; asked: number; addresses: string[] } {
  const names = {
    addresses,
    asked: 0,
    lookup: ((_name, options, callback) => {
      names.asked += 1;
      const found: LookupAddress[] = names.addresses.map((address) => ({ address, family: 4 }));
      if (options.all) callback(null, found);
      else callback(null, found[0]?.address ?? '', 4);
    }) satisfies LookupFunction,
  };
  return names;
}

// Other systems have no 127.0.0.2 by default.
const onlyOnLinux = { skip: process.platform !== 'linux' };

test('connections move to a changed DNS address without a failed call', onlyOnLinux, async (t) => {
  const connections = [0, 0];
  const held: ServerResponse[] = [];
  const serve = (no: 0 | 1, address: string, port = 0): Promise<number> => {
    const server = createHttpServer((request, response) => {
      // Long enough to stay until it is closed here.
      response.setHeader('Keep-Alive', 'timeout=600');
      response.write(address);
      if (request.headers['x-hold'] === undefined) response.end();
      else held.push(response);
    });
    server.keepAliveTimeout = 600_000;
    server.on('connection', () => {
      connections[no] = (connections[no] ?? 0) + 1;
    });
    return start(t, server, address, port);
  };
  const port = await serve(0, '127.0.0.1');
  await serve(1, '127.0.0.2', port);
  const names = createNames('127.0.0.1');
  const connectionLifeMs = patientMs(75);
  const pools = startPools(t, { lookup: names.lookup, connectionLifeMs });
  const pool = pools.of(toUpstream(`http://upstream.test:${port}`));
  const long = callThrough(pool, ['x-hold', 'yes']);
  assert.equal((await callThrough(pool)).body, '127.0.0.1');
  await until(() => held.length === 1, { what: 'the long call has begun' });
  names.addresses = ['127.0.0.2'];

  const bodies: string[] = [];
  for (let i = 0; i < 1_000 && bodies.at(-1) !== '127.0.0.2'; i += 1) {
    const { body, error } = await callThrough(pool);
    assert.equal(error, undefined);
    bodies.push(body);
    await wait(5);
  }
  assert.equal(bodies.at(-1), '127.0.0.2');
  assert.ok(bodies.length > 2, 'the first connection was not used again');
  await wait(connectionLifeMs + 100);
  held[0]?.end(' to the end');
  assert.equal((await long).body, '127.0.0.1 to the end');
  assert.equal((await callThrough(pool)).body, '127.0.0.2');
  assert.equal(connections[0], 2);
  assert.equal(names.asked, (connections[0] ?? 0) + (connections[1] ?? 0), 'one look-up a connection');
});

test('an idle connection is closed at its maximum age', async (t) => {
  let closed = 0;
  const port = await listen(t, (socket) => {
    socket.on('end', () => {
      closed += 1;
    });
    socket.on('data', () => socket.write(okAnswer.replace('\r\n', '\r\nKeep-Alive: timeout=600\r\n')));
  });
  const pool = startPools(t, { connectionLifeMs: 100 }).of(toUpstream(`http://127.0.0.1:${port}`));
  assert.equal((await callThrough(pool)).body, 'ok');
  await until(() => closed === 1, { what: 'it is closed' });
  assert.equal((await callThrough(pool)).body, 'ok');
});

test('if one address of a name refuses, the next is tried, and an error names all', onlyOnLinux, async (t) => {
  const port = await listen(t, (socket) => socket.on('data', () => socket.write(okAnswer)));
  const reach = (...addresses: string[]) =>
    callThrough(
      startPools(t, { lookup: createNames(...addresses).lookup }).of(toUpstream(`http://upstream.test:${port}`)),
    );
  assert.equal((await reach('127.0.0.2', '127.0.0.3', '127.0.0.1')).body, 'ok');
  const { started, error } = await reach('127.0.0.2', '127.0.0.3');
  assert.equal(started, false);
  assert.match(toFailure(error, started).cause, /ECONNREFUSED: .*127\.0\.0\.2:\d+, .*127\.0\.0\.3:\d+$/);
});

test("an upstream's endpoints are kept over a reload that does not change them", (t) => {
  const pools = startPools(t);
  const endpoints = { from: ['10.0.0.1', '10.0.0.2'], zone: [] };
  const before = toUpstream('http://tei.test', { endpoints });
  const after = toUpstream('http://tei.test', { endpoints });
  pools.keep([before]);
  const set = pools.endpointsOf(before);
  assert.ok(set !== undefined);
  pools.keep([after]);
  assert.equal(pools.endpointsOf(after), set);
  pools.keep([toUpstream('http://tei.test')]);
  assert.notEqual(pools.endpointsOf(before), set);
});
