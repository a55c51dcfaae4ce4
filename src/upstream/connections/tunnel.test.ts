import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { patientMs } from '../../../test/support/time/patience.ts';
import { localhostCertificate, localhostKey } from '../../../test/support/upstreams/localhost-certificate.ts';
import { callThrough, type PoolAnswer } from '../../../test/support/upstreams/pool-call.ts';
import { toUpstream } from '../../../test/support/upstreams/upstream.ts';
import { exchange } from '../../wire/exchange.ts';
import { OriginPools } from '../../wire/origin-pools.ts';
import { Wheel } from '../../wire/wheel.ts';
import { isStaleConnection, toFailure } from '../failures.ts';
import { connectorsBy } from './connection.ts';
import { createPools } from './pools.ts';
import { createProxyRule } from './proxy-rule.ts';

const password = 'hunter2';
const credential = Buffer.from(`postern:${password}`).toString('base64');
const forLocalhost = { cert: localhostCertificate, key: localhostKey };
const established = 'HTTP/1.1 200 Connection established\r\n\r\n';

async function start(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

interface Proxy {
  readonly url: string;
  readonly port: number;
  /** The received requests, each up to the end of its head. */
  readonly asked: readonly string[];
}

type Answer = (socket: Socket, targetPort: number) => void;

/** Connects every request to this machine. */
async function startProxy(t: TestContext, { answer = lead, secure = false } = {}): Promise<Proxy> {
  const asked: string[] = [];
  const serve = (socket: Socket): void => {
    let head = '';
    socket.on('error', () => undefined);
    socket.on('data', function onData(bytes: Buffer) {
      head += bytes.toString('latin1');
      if (!head.endsWith('\r\n\r\n')) return;
      socket.off('data', onData);
      asked.push(head);
      answer(socket, Number(/^CONNECT \S+:(\d+) /.exec(head)?.[1]));
    });
  };
  const server = secure ? createTlsServer(forLocalhost, serve) : createTcpServer(serve);
  server.on('tlsClientError', () => undefined);
  const port = await start(t, server);
  return { port, asked, url: `${secure ? 'https' : 'http'}://postern:${password}@127.0.0.1:${port}` };
}

const lead: Answer = (socket, targetPort) => {
  const onward = connect(targetPort, '127.0.0.1', () => {
    socket.write(established);
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy());
  onward.on('close', () => socket.destroy());
  socket.on('close', () => onward.destroy());
};

const saying =
  (text: string): Answer =>
  (socket) =>
    socket.write(text);

/** A pool whose upstream is reached through that proxy; not by a loopback name, which never uses it. */
function poolThrough(t: TestContext, proxyUrl: string, { port = 443, secure = false, connectMs = 2_000 } = {}) {
  const pools = createPools({ proxyFor: createProxyRule({ https_proxy: proxyUrl, http_proxy: proxyUrl }) });
  t.after(() => pools.close());
  const tls = { ca: localhostCertificate, cert: undefined, key: undefined, serverName: 'localhost' };
  return pools.of(toUpstream(`${secure ? 'https' : 'http'}://upstream.test:${port}`, { connectMs, tls }));
}

test('a call to a service other than an upstream, such as a webhook, uses the proxy for its origin', async (t) => {
  const { port, seen } = await startOrigin(t, false);
  const proxy = await startProxy(t);
  const connect = connectorsBy(createProxyRule({ http_proxy: proxy.url, no_proxy: 'plain.test' }));
  const pools = new OriginPools({ wheel: new Wheel(100), connections: 1 });
  t.after(() => pools.destroy());
  const ask = async (host: string): Promise<number> => {
    const pool = pools.of('', `http://${host}:${port}`, () => connect(undefined, 2_000));
    const call = { method: 'POST', path: '/alert', headers: [], body: Buffer.from('{}') };
    return (await exchange(pool, call, { limitBytes: 1_000, beyond: 'cut', timeoutMs: patientMs(5_000) })).status;
  };
  assert.equal(await ask('hooks.test'), 200);
  assert.match(proxy.asked[0] ?? '', new RegExp(`^CONNECT hooks\\.test:${port} `));
  assert.equal(await ask('127.0.0.1'), 200);
  await assert.rejects(ask('plain.test'));
  assert.deepEqual([proxy.asked.length, seen.length], [1, 2]);
});

async function startOrigin(t: TestContext, secure: boolean): Promise<{ port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(request);
    response.end('from the origin');
  };
  const server = secure ? createHttpsServer(forLocalhost, listener) : createHttpServer(listener);
  server.on('tlsClientError', () => undefined);
  return { port: await start(t, server), seen };
}

function assertNotSent(answer: PoolAnswer, proxy: Pick<Proxy, 'port'>, cause: RegExp): void {
  assert.equal(answer.started, false);
  assert.equal(isStaleConnection(answer.error), false);
  const failure = toFailure(answer.error, answer.started);
  assert.match(failure.cause, cause);
  assert.ok(failure.cause.includes(`127.0.0.1:${proxy.port}`), failure.cause);
  for (const secret of [password, credential]) assert.ok(!failure.cause.includes(secret), failure.cause);
}

for (const secureProxy of [false, true]) {
  for (const secureOrigin of [false, true]) {
    const what = `an origin ${secureOrigin ? 'with' : 'without'} TLS through a proxy ${secureProxy ? 'with' : 'without'}`;
    test(`reaches ${what}, and sends proxy and origin only their own credentials`, async (t) => {
      setDefaultCACertificates([...getCACertificates('bundled'), localhostCertificate]);
      t.after(() => setDefaultCACertificates(getCACertificates('bundled')));
      const origin = await startOrigin(t, secureOrigin);
      const proxy = await startProxy(t, { secure: secureProxy });
      const pool = poolThrough(t, proxy.url, { port: origin.port, secure: secureOrigin });
      for (let i = 0; i < 3; i += 1) assert.equal((await callThrough(pool)).body, 'from the origin');
      const target = `upstream.test:${origin.port}`;
      assert.deepEqual(proxy.asked, [
        `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\nUser-Agent: postern\r\nProxy-Authorization: Basic ${credential}\r\n\r\n`,
      ]);
      assert.equal(origin.seen.length, 3);
      for (const { url, headers } of origin.seen) {
        assert.equal(url, '/v1/embeddings');
        assert.equal(headers.host, target);
        assert.equal(headers['proxy-authorization'], undefined);
      }
    });
  }
}

test('sends a proxy no credential unless configured, and adds the default port', async (t) => {
  const proxy = await startProxy(t, { answer: saying('HTTP/1.1 502 No\r\n\r\n') });
  const url = `http://127.0.0.1:${proxy.port}`;
  await callThrough(poolThrough(t, url, { secure: true }));
  await callThrough(poolThrough(t, url, { port: 80 }));
  assert.deepEqual(proxy.asked, [
    'CONNECT upstream.test:443 HTTP/1.1\r\nHost: upstream.test:443\r\nUser-Agent: postern\r\n\r\n',
    'CONNECT upstream.test:80 HTTP/1.1\r\nHost: upstream.test:80\r\nUser-Agent: postern\r\n\r\n',
  ]);
});

test('writes an IPv6 origin in brackets', async (t) => {
  const proxy = await startProxy(t, { answer: saying('HTTP/1.1 502 No\r\n\r\n') });
  const pools = createPools({ proxyFor: createProxyRule({ https_proxy: proxy.url }) });
  t.after(() => pools.close());
  await callThrough(pools.of(toUpstream('https://[fd00::1]')));
  assert.match(proxy.asked[0] ?? '', /^CONNECT \[fd00::1\]:443 HTTP\/1\.1\r\nHost: \[fd00::1\]:443\r\n/);
});

test('accepts a proxy response byte by byte, with headers, in HTTP/1.0 and without a reason', async (t) => {
  for (const head of [
    established,
    'HTTP/1.0 200 OK\r\nProxy-Agent: x\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 200\r\n\r\n',
    `HTTP/1.1 200 OK\r\nX-Filler: ${'f'.repeat(16_000)}\r\n\r\n`,
  ]) {
    const origin = await startOrigin(t, true);
    const inPieces: Answer = (socket, targetPort) => {
      const onward = connect(targetPort, '127.0.0.1', async () => {
        const stepBytes = head.length > 1_000 ? 1_000 : 1;
        for (let i = 0; i < head.length; i += stepBytes) {
          socket.write(head.slice(i, i + stepBytes));
          await new Promise(setImmediate);
        }
        socket.pipe(onward).pipe(socket);
      });
      onward.on('error', () => undefined);
    };
    const proxy = await startProxy(t, { answer: inPieces });
    const { body, error } = await callThrough(poolThrough(t, proxy.url, { port: origin.port, secure: true }));
    assert.equal(error, undefined);
    assert.equal(body, 'from the origin');
  }
});

const refusals: readonly [string, Answer, RegExp][] = [
  ['407', saying(`HTTP/1.1 407 ${password}\r\nProxy-Authenticate: Basic\r\n\r\n`), /CONNECT with status 407$/],
  ['403 with a body', saying('HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno'), /CONNECT with status 403$/],
  ['a redirect', saying('HTTP/1.1 302 Found\r\nLocation: http://login/\r\n\r\n'), /CONNECT with status 302$/],
  ['another 2xx status', saying('HTTP/1.1 204 No Content\r\n\r\n'), /CONNECT with status 204$/],
  ['100 Continue', saying(`HTTP/1.1 100 Continue\r\n\r\n${established}`), /CONNECT with status 100$/],
  ['a status of four digits', saying('HTTP/1.1 2000 OK\r\n\r\n'), /something that is not HTTP$/],
  ['another protocol', saying('SSH-2.0-OpenSSH_9.6\r\n\r\n'), /something that is not HTTP$/],
  ['HTTP/2', saying('HTTP/2 200 OK\r\n\r\n'), /something that is not HTTP$/],
  ['a head over 16 KiB', saying(`HTTP/1.1 200 OK\r\nX: ${'f'.repeat(17_000)}\r\n\r\n`), /over 16 KiB$/],
  ['an endless head', saying(`HTTP/1.1 200 OK\r\nX: ${'f'.repeat(17_000)}`), /over 16 KiB$/],
  ['an additional response', saying(`${established}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`), /sent more than/],
  ['an immediate close', (socket) => socket.end(), /it closed the connection$/],
  ['a close within the head', (socket) => socket.end('HTTP/1.1 200'), /it closed the connection$/],
  ['a reset', (socket) => socket.resetAndDestroy(), /ECONNRESET$/],
];

for (const [what, answer, cause] of refusals) {
  test(`a proxy that answers with ${what} leaves the call unsent, and a later call tries again`, async (t) => {
    let tunnels = false;
    const proxy = await startProxy(t, { answer: (...asked) => (tunnels ? lead : answer)(...asked) });
    const origin = await startOrigin(t, false);
    const pool = poolThrough(t, proxy.url, { port: origin.port });
    assertNotSent(await callThrough(pool), proxy, cause);
    assert.equal(origin.seen.length, 0);
    tunnels = true;
    assert.equal((await callThrough(pool)).body, 'from the origin');
    assert.equal(proxy.asked.length, 2);
  });
}

test('an unreachable or untrusted proxy leaves the call unsent', async (t) => {
  const closed = createTcpServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  assertNotSent(await callThrough(poolThrough(t, `http://u:${password}@127.0.0.1:${port}`)), { port }, /ECONNREFUSED/);
  const proxy = await startProxy(t, { secure: true });
  assertNotSent(await callThrough(poolThrough(t, proxy.url)), proxy, /TunnelError.*self-signed certificate/);
  assert.deepEqual(proxy.asked, []);
});

test("one connect timeout covers the proxy connection, the tunnel and the origin's TLS handshake", async (t) => {
  const silentOrigin = createTcpServer(() => undefined);
  const originPort = await start(t, silentOrigin);
  const connectMs = patientMs(75);
  for (const [answer, asked] of [
    [() => undefined, 1],
    [saying('HTTP/1.1 200 OK\r\n'), 1],
    [(...args: Parameters<Answer>) => setTimeout(lead, connectMs / 2, ...args), 1],
  ] satisfies [Answer, number][]) {
    const proxy = await startProxy(t, { answer });
    let isLate = false;
    // On a slow machine, too, timers fire in order.
    const late = setTimeout(() => {
      isLate = true;
    }, 10 * connectMs);
    const result = await callThrough(poolThrough(t, proxy.url, { port: originPort, secure: true, connectMs }));
    clearTimeout(late);
    assertNotSent(result, proxy, new RegExp(`ConnectTimeoutError ERR_CONNECT_TIMEOUT: .* within ${connectMs} ms$`));
    assert.equal(toFailure(result.error, false).code, 'upstream_timeout');
    assert.equal(isLate, false);
    assert.equal(proxy.asked.length, asked);
  }
});

test("a tunnel that breaks during the origin's TLS handshake leaves the call unsent", async (t) => {
  for (const breakIt of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    const answer: Answer = (socket) => {
      socket.write(established);
      socket.once('data', () => breakIt(socket));
    };
    const proxy = await startProxy(t, { answer });
    const { started, error } = await callThrough(poolThrough(t, proxy.url, { secure: true, connectMs: 60_000 }));
    assert.equal(started, false);
    assert.ok(error instanceof Error);
  }
});

test("verifies the origin's certificate, so that a proxy cannot lead to another server", async (t) => {
  const proxy = await startProxy(t);
  const origin = await startOrigin(t, true);
  const pools = createPools({ proxyFor: createProxyRule({ https_proxy: proxy.url }) });
  t.after(() => pools.close());
  const tls = { ca: localhostCertificate, cert: undefined, key: undefined, serverName: undefined };
  const { started, error } = await callThrough(pools.of(toUpstream(`https://upstream.test:${origin.port}`, { tls })));
  assert.equal(started, false);
  assert.match(toFailure(error, started).cause, /ERR_TLS_CERT_ALTNAME_INVALID/);
  assert.equal(origin.seen.length, 0);
});

test('a reused tunnel that is reset before a response byte is reported as stale', async (t) => {
  for (const secure of [false, true]) {
    const inside = new Set<Socket>();
    const proxy = await startProxy(t, {
      answer(socket, targetPort) {
        inside.add(socket);
        lead(socket, targetPort);
      },
    });
    let asked = 0;
    const listener: RequestListener = (_request, response) => {
      asked += 1;
      if (asked === 1) response.end('ok');
      else for (const socket of inside) socket.resetAndDestroy();
    };
    const server = secure ? createHttpsServer(forLocalhost, listener) : createHttpServer(listener);
    const pool = poolThrough(t, proxy.url, { port: await start(t, server), secure });
    assert.equal((await callThrough(pool)).body, 'ok');
    const { started, error } = await callThrough(pool);
    assert.equal(started, true);
    assert.equal(isStaleConnection(error), true, secure ? 'with TLS' : 'without TLS');
  }
});
