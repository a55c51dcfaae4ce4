import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { listen } from '../../test/support/upstreams/listen.ts';
import { localhostCertificate, localhostKey } from '../../test/support/upstreams/localhost-certificate.ts';
import { callOnce, callThrough } from '../../test/support/upstreams/pool-call.ts';
import { BrokenConnectionError, ConnectTimeoutError, PoolClosedError } from './client-errors.ts';
import { ClientPool, type PoolOptions } from './client-pool.ts';
import {
  type Connector,
  createDirectConnector,
  type ServerAddress,
  TlsClient,
  toServerAddress,
  whenSecure,
} from './connect.ts';
import { exchange } from './exchange.ts';
import { OriginPools } from './origin-pools.ts';
import { Wheel } from './wheel.ts';

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const direct = (timeoutMs = 5_000, ca?: string): Connector =>
  createDirectConnector({ tcp: { noDelay: true }, tls: new TlsClient(ca === undefined ? {} : { ca }), timeoutMs });

function open(t: TestContext, address: ServerAddress, options: Partial<PoolOptions> = {}): ClientPool {
  const pool = new ClientPool({
    server: address,
    host: 'host.test',
    connect: direct(),
    connections: 4,
    wheel: new Wheel(10),
    ...options,
  });
  t.after(() => pool.destroy());
  return pool;
}

const at = (port: number): ServerAddress => ({ secure: false, host: '127.0.0.1', port });

async function until(what: string, condition: () => boolean): Promise<void> {
  for (let i = 0; i < 1_000; i += 1) {
    if (condition()) return;
    await wait(10);
  }
  throw new Error(`it never came about that ${what}`);
}

/** The received requests, each with its connection; the test decides when they are answered. */
async function startHolding(t: TestContext) {
  const asked: { name: string; socket: Socket }[] = [];
  const sockets: Socket[] = [];
  const port = await listen(t, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      asked.push({ name: /x-name: (\S+)/.exec(bytes.toString('latin1'))?.[1] ?? '', socket });
    });
  });
  return { port, asked, sockets };
}

test('calls beyond the connections wait in order, and cancelled ones are skipped', async (t) => {
  const { port, asked, sockets } = await startHolding(t);
  const pool = open(t, at(port), { connections: 1 });
  const first = callThrough(pool, ['x-name', 'first']);
  await until('the first is there', () => asked.length === 1);
  const second = callThrough(pool, ['x-name', 'second']);
  let calls = 0;
  const count = (): void => {
    calls += 1;
  };
  const handler = {
    onStart: count,
    onSent: count,
    onFirstByte: count,
    onHead: count,
    onBody: count,
    onEnd: count,
    onError: count,
  };
  const given = pool.send({ method: 'GET', path: '/', headers: ['x-name', 'given-up'] }, handler);
  const third = callThrough(pool, ['x-name', 'third']);
  given.abort();
  given.abort();
  for (const [i, call] of [first, second, third].entries()) {
    await until('the next is there', () => asked.length === i + 1);
    asked[i]?.socket.write(ok);
    assert.equal((await call).body, 'ok');
  }
  assert.deepEqual(
    asked.map(({ name }) => name),
    ['first', 'second', 'third'],
  );
  assert.equal(sockets.length, 1);
  assert.equal(calls, 0);
});

test('the most recently used idle connection serves the next call', async (t) => {
  const { port, asked } = await startHolding(t);
  const pool = open(t, at(port));
  const calls = [callThrough(pool, ['x-name', 'a']), callThrough(pool, ['x-name', 'b'])];
  await until('both are there', () => asked.length === 2);
  for (const name of ['a', 'b']) {
    asked.find((each) => each.name === name)?.socket.write(ok);
    await calls[name === 'a' ? 0 : 1];
  }
  const newest = asked.find(({ name }) => name === 'b')?.socket;
  for (let i = 3; i < 6; i += 1) {
    const call = callThrough(pool);
    await until('it is there', () => asked.length === i);
    assert.equal(asked.at(-1)?.socket, newest);
    newest?.write(ok);
    await call;
  }
});

test('a call reports that it waited for a connection, unless one was open and free', async (t) => {
  const { port, asked, sockets } = await startHolding(t);
  const pool = open(t, at(port), { connections: 1 });
  const first = callThrough(pool);
  const behind = callThrough(pool);
  for (const [index, call] of [first, behind].entries()) {
    await until('it is there', () => asked.length === index + 1);
    asked[index]?.socket.write(ok);
    assert.equal((await call).hasWaited, true);
  }
  const free = callThrough(pool);
  await until('it is there', () => asked.length === 3);
  asked[2]?.socket.write(ok);
  assert.equal((await free).hasWaited, false);
  // The free connection ends before it has the call, and another one is opened.
  assert.equal(sockets.length, 1);
  await wait(1);
  sockets[0]?.destroy();
  const late = callThrough(pool);
  await until('it is there', () => asked.length === 4);
  asked[3]?.socket.write(ok);
  assert.deepEqual([(await late).hasWaited, sockets.length], [true, 2]);
  const none = open(t, at(1));
  assert.deepEqual([(await callThrough(none)).hasWaited, (await callThrough(none)).started], [true, false]);
});

test('a call served by a connection that was being opened before it reports no wait', async (t) => {
  const { port, asked } = await startHolding(t);
  const opened: (() => void)[] = [];
  const connect: Connector = (server, done) => direct()(server, (result) => opened.push(() => done(result)));
  const pool = open(t, at(port), { connect });
  const calls = [callThrough(pool), callThrough(pool)];
  await until('both connections are there', () => opened.length === 2);
  opened[0]?.();
  for (const [index, call] of calls.entries()) {
    await until('it is there', () => asked.length === index + 1);
    asked[index]?.socket.write(ok);
    assert.equal((await call).hasWaited, true);
  }
  const late = callThrough(pool);
  opened[1]?.();
  await until('it is there', () => asked.length === 3);
  assert.notEqual(asked[2]?.socket, asked[0]?.socket);
  asked[2]?.socket.write(ok);
  assert.equal((await late).hasWaited, false);
});

test('a connection that cannot be opened fails only the call that waited for it', async (t) => {
  const { port, asked } = await startHolding(t);
  let openings = 0;
  const pool = open(t, at(port), {
    connections: 2,
    connect: (address, done) => {
      openings += 1;
      if (openings === 2) setImmediate(() => done(new Error('no way')));
      else direct()(address, done);
    },
  });
  const first = callThrough(pool);
  await until('the first is there', () => asked.length === 1);
  const second = await callThrough(pool);
  assert.equal(second.started, false);
  assert.match(String(second.error), /no way/);
  const third = callThrough(pool);
  await until('the third is there', () => asked.length === 2);
  for (const { socket } of asked) socket.write(ok);
  assert.equal((await first).body, 'ok');
  assert.equal((await third).body, 'ok');
  assert.equal(openings, 3);
});

test('a call whose connection cannot be opened uses one that becomes free', async (t) => {
  const { port, asked } = await startHolding(t);
  let refuse = (): void => {};
  let openings = 0;
  const pool = open(t, at(port), {
    connections: 2,
    connect: (address, done) => {
      openings += 1;
      if (openings === 1) direct()(address, done);
      else refuse = () => done(new Error('no way'));
    },
  });
  const first = callThrough(pool);
  await until('the first is there', () => asked.length === 1);
  const second = callThrough(pool);
  asked[0]?.socket.write(ok);
  assert.equal((await first).body, 'ok');
  refuse();
  await until('the second is there', () => asked.length === 2);
  asked[1]?.socket.write(ok);
  assert.equal((await second).body, 'ok');
});

test('connecting is given up at the connect timeout', async (t) => {
  const silent = await listen(t, () => undefined);
  const address = { secure: true, host: '127.0.0.1', port: silent };
  const begunAtMs = performance.now();
  let isLate = false;
  // However slow the machine is, what is due first comes first.
  const late = setTimeout(() => {
    isLate = true;
  }, 3_000);
  const { error, started } = await callThrough(open(t, address, { connect: direct(300) }));
  assert.equal(started, false);
  assert.ok(error instanceof ConnectTimeoutError, String(error));
  assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${silent} within 300 ms`));
  clearTimeout(late);
  assert.ok(performance.now() - begunAtMs >= 299);
  assert.equal(isLate, false);
});

test('closing a pool waits for its running calls and accepts no more; destroying it breaks them', async (t) => {
  const { port, asked } = await startHolding(t);
  const pool = open(t, at(port));
  const running = callThrough(pool);
  await until('it is there', () => asked.length === 1);
  let isClosed = false;
  const closing = pool.close().then(() => {
    isClosed = true;
  });
  assert.equal(pool.closed, true);
  assert.throws(() => pool.send({ method: 'GET', path: '/', headers: [] }, assert.fail as never), PoolClosedError);
  await wait(20);
  assert.equal(isClosed, false);
  asked[0]?.socket.write(ok);
  assert.equal((await running).body, 'ok');
  await closing;
  assert.equal(pool.connections, 0);

  const other = open(t, at(port), { connections: 1 });
  const calls = [callThrough(other), callThrough(other)];
  await until('it is there', () => asked.length === 2);
  other.destroy();
  for (const call of calls) assert.ok((await call).error instanceof PoolClosedError);
  assert.equal(other.connections, 0);
});

test('a connection opened after the pool was destroyed is closed at once', async (t) => {
  const opened = Promise.withResolvers<Socket>();
  const port = await listen(t, (socket) => socket.resume());
  const connect: Connector = (address, done) =>
    direct()(address, (result) => {
      done(result);
      if (!(result instanceof Error)) opened.resolve(result);
    });
  const pool = open(t, at(port), { connect });
  const call = callThrough(pool);
  pool.destroy();
  assert.ok((await call).error instanceof PoolClosedError);
  assert.equal((await opened.promise).destroyed, true);
});

test('an idle connection is closed at its idle timeout', async (t) => {
  const { port, asked, sockets } = await startHolding(t);
  const pool = open(t, at(port), { keepAliveMs: 60 });
  const call = callThrough(pool);
  await until('it is there', () => asked.length === 1);
  sockets[0]?.write(ok);
  await call;
  assert.equal(pool.connections, 1);
  await until('it is closed', () => pool.connections === 0);
});

test('a server on a Unix socket is called like one on a host', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'wire-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const path = join(directory, 'server.sock');
  let asked = '';
  const server = createServer((socket) => {
    socket.on('data', (bytes) => {
      asked += bytes.toString('latin1');
      socket.write(ok);
    });
  });
  server.listen(path);
  await once(server, 'listening');
  t.after(() => server.close());
  const pool = open(t, { secure: false, host: 'localhost', port: 0, path });
  assert.equal((await callThrough(pool)).body, 'ok');
  assert.match(asked, /^POST \/v1\/embeddings HTTP\/1\.1\r\nhost: host\.test\r\n/);
  pool.destroy();
  const { error } = await callThrough(open(t, { secure: false, host: 'localhost', port: 0, path: `${path}.not` }));
  assert.match(String(error), /ENOENT/);
});

async function startTls(t: TestContext): Promise<{ port: number; resumed: boolean[]; server: Server }> {
  const resumed: boolean[] = [];
  const server = createHttpsServer({ cert: localhostCertificate, key: localhostKey }, (request, response) => {
    resumed.push((request.socket as TLSSocket).isSessionReused());
    response.setHeader('connection', 'close');
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  return { port: address.port, resumed, server };
}

test('a TLS connection resumes the session of its own pool only', async (t) => {
  const { port, resumed } = await startTls(t);
  const address = toServerAddress(`https://localhost:${port}`);
  assert.deepEqual(address, { secure: true, host: 'localhost', port });
  const pool = open(t, address, { connect: direct(5_000, localhostCertificate) });
  for (let i = 0; i < 3; i += 1) assert.equal((await callThrough(pool)).body, 'ok');
  const other = open(t, address, { connect: direct(5_000, localhostCertificate) });
  assert.equal((await callThrough(other)).body, 'ok');
  assert.deepEqual(resumed, [false, true, true, false]);
});

test('runs TLS over an existing connection', async (t) => {
  const { port } = await startTls(t);
  const address = { secure: true, host: 'localhost', port };
  const tls = new TlsClient({ ca: localhostCertificate });
  const over: Connector = (to, done) => {
    direct()({ ...to, host: '127.0.0.1', secure: false }, (plain) => {
      if (plain instanceof Error) done(plain);
      else whenSecure(tls, plain, { leftMs: 5_000, timeoutMs: 5_000 }, to, done);
    });
  };
  assert.equal((await callThrough(open(t, address, { connect: over }))).body, 'ok');
});

test("one of the gateway's own requests has limits of size and time, and ends with its abort signal", async (t) => {
  const long = await listen(t, (socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(5_000)}`));
  });
  const pool = open(t, at(long));
  const request = { method: 'GET', path: '/', headers: [] };
  const cut = await exchange(pool, request, { limitBytes: 1_000, beyond: 'cut' });
  assert.equal(cut.status, 200);
  assert.ok(cut.body.length > 1_000);
  await assert.rejects(exchange(pool, request, { limitBytes: 1_000, beyond: 'fail' }), { code: 'ERR_ANSWER_TOO_LONG' });
  const patient = { limitBytes: 10_000, beyond: 'fail' } as const;
  await assert.rejects(exchange(pool, request, { ...patient, timeoutMs: 50 }), { code: 'ERR_ANSWER_TIMEOUT' });
  const leaving = new AbortController();
  const left = exchange(pool, request, { ...patient, signal: leaving.signal });
  leaving.abort(new Error('gone'));
  await assert.rejects(left, /gone/);
  await assert.rejects(exchange(pool, request, { ...patient, signal: leaving.signal }), /gone/);
  await until('nothing is left of them', () => pool.connections === 0);
});

test("the gateway's own requests use one pool per origin and group, and the oldest pools are closed", (t) => {
  const pools = new OriginPools({ wheel: new Wheel(100), connections: 1 });
  t.after(() => pools.destroy());
  const a = pools.of('', 'https://a.test', () => direct());
  assert.equal(
    pools.of('', 'https://a.test', () => direct()),
    a,
  );
  assert.notEqual(
    pools.of('rule', 'https://a.test', () => direct()),
    a,
  );
  for (let i = 0; i < 300; i += 1) pools.of('', `https://${i}.test`, () => direct());
  assert.equal(a.closed, true, 'they grew without end');
});

test('a broken connection is removed from the pool, and its call fails with the reason', async (t) => {
  const port = await listen(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  const pool = open(t, at(port));
  const { error, started } = await callThrough(pool);
  assert.equal(started, true);
  assert.ok(error instanceof BrokenConnectionError);
  assert.equal(error.code, 'ECONNRESET');
  assert.equal(error.stale, false);
  assert.equal(pool.connections, 0);
});

/** Answers whole, and ends the connection a moment later without a word; the next call on it gets nothing. */
async function startEndingLate(t: TestContext, afterMs: number) {
  const seen = { connections: 0, calls: 0, lost: 0 };
  const port = await listen(t, (socket) => {
    seen.connections += 1;
    let isServed = false;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      seen.calls += 1;
      if (isServed) {
        seen.lost += 1;
        return;
      }
      isServed = true;
      socket.write(ok);
      setTimeout(() => socket.end(), afterMs);
    });
  });
  return { port, seen };
}

test('if a server tends to close connections, they are reused only after a moment, and only by repeatable calls', async (t) => {
  const { port, seen } = await startEndingLate(t, 20);
  const pool = open(t, at(port));
  assert.equal((await callThrough(pool)).status, 200);
  await until('the server has ended the connection', () => pool.connections === 0);
  for (let i = 0; i < 10; i += 1) {
    // Of two at once neither gets the connection that the other has left.
    const answers = await Promise.all([callThrough(pool), callOnce(pool)]);
    assert.deepEqual(
      answers.map(({ status, error }) => [status, error]),
      [
        [200, undefined],
        [200, undefined],
      ],
    );
  }
  assert.equal(seen.lost, 0);
  assert.equal(seen.connections, 21);
});

test('when all connections are open, a call that cannot be repeated replaces an idle one by a new one', async (t) => {
  let isEnding = true;
  let connections = 0;
  const port = await listen(t, (socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.on('data', () => {
      socket.write(ok);
      if (isEnding) socket.end();
    });
  });
  const pool = open(t, at(port), { connections: 1 });
  assert.equal((await callThrough(pool)).status, 200);
  await until('the server has ended the connection', () => pool.connections === 0);
  isEnding = false;
  for (let i = 0; i < 3; i += 1) {
    assert.equal((await callOnce(pool)).status, 200);
    await wait(150);
  }
  assert.equal((await callThrough(pool)).status, 200);
  assert.equal(connections, 4, 'one for each that was sent once');
  await pool.close();
});

test('if a server keeps connections open, every call reuses them, also one that cannot be repeated', async (t) => {
  const { port, asked } = await startHolding(t);
  const pool = open(t, at(port));
  const sockets = new Set<Socket>();
  for (let i = 0; i < 4; i += 1) {
    const answer = i % 2 === 0 ? callOnce(pool) : callThrough(pool);
    await until('it is there', () => asked.length === i + 1);
    const socket = asked[i]?.socket;
    assert.ok(socket !== undefined);
    sockets.add(socket);
    socket.write(ok);
    assert.equal((await answer).status, 200);
  }
  assert.equal(sockets.size, 1);
});
