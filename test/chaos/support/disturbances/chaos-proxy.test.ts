import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { request, send } from '../../../support/clients/raw-client.ts';
import { connect, type RawConnection } from '../../../support/clients/raw-connection.ts';
import { startFakeUpstream } from '../../../support/upstreams/fake-upstream.ts';
import { listen } from '../../../support/upstreams/listen.ts';
import { startChaosProxy } from './chaos-proxy.ts';

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789';

function echo(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.pipe(socket);
}

async function open(t: TestContext, port: number): Promise<RawConnection> {
  const connection = await connect(port, { timeoutMs: 2_000 });
  t.after(() => connection.destroy());
  return connection;
}

test('passes traffic unchanged in both directions by default', async (t) => {
  const upstream = await startFakeUpstream((_request, reply) => reply.raw(answer));
  t.after(() => upstream.close());
  const proxy = await startChaosProxy(t, upstream.port);
  const body = 'x'.repeat(1_000_000);
  const response = await request({ port: proxy.port, path: '/', body, headers: [['Connection', 'close']] });
  assert.equal(response.body.toString(), '0123456789');
  assert.equal(upstream.requests[0]?.body.toString(), body);
  assert.equal(proxy.passed().toClient, answer.length);
});

test('a response is cut and reset at any byte', async (t) => {
  const upstream = await startFakeUpstream((_request, reply) => reply.raw(answer));
  t.after(() => upstream.close());
  const proxy = await startChaosProxy(t, upstream.port);
  for (const afterBytes of [0, 1, 20, answer.length - 1, answer.length]) {
    proxy.behave({ toClient: { ends: 'cut', afterBytes } });
    const connection = await open(t, proxy.port);
    await connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.equal(await connection.closed(), 'fin');
    assert.equal(connection.received().toString(), answer.slice(0, afterBytes));

    proxy.behave({ toClient: { ends: 'reset', afterBytes } });
    const broken = await send(proxy.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', { until: 'close' });
    assert.equal(broken.closed, 'reset');
    assert.ok(answer.slice(0, afterBytes).startsWith(broken.rawBytes.toString()));
  }
});

test('a request is cut at any byte', async (t) => {
  const received: string[] = [];
  const port = await listen(t, (socket) => {
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString()));
    socket.on('end', () => received.push(text));
    socket.on('error', () => undefined);
  });
  const proxy = await startChaosProxy(t, port, (no) => ({ toServer: { ends: 'cut', afterBytes: no * 2 } }));
  for (const expected of ['ab', 'abcd', 'abcdef']) {
    const connection = await open(t, proxy.port);
    await connection.write('abcdefgh');
    assert.notEqual(await connection.closed(), 'open');
    while (received.length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(received.pop(), expected);
  }
});

test('a stalled connection continues on request', async (t) => {
  const port = await listen(t, echo);
  const proxy = await startChaosProxy(t, port, { toClient: { ends: 'stall', afterBytes: 3 } });
  const connection = await open(t, proxy.port);
  await connection.write('123456');
  await connection.sees('123');
  while (proxy.passed().toServer < 6) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(connection.received().toString(), '123');
  proxy.behave({}, { open: true });
  await connection.sees('123456');
});

test('delay and throttle keep every byte, and take time', async (t) => {
  const port = await listen(t, echo);
  const proxy = await startChaosProxy(t, port, { toServer: { delayMs: 40 }, toClient: { bytesPerSecond: 10_000 } });
  const connection = await open(t, proxy.port);
  const startedMs = performance.now();
  await connection.write(`${'x'.repeat(999)}!`);
  await connection.sees('!');
  assert.equal(connection.received().length, 1000);
  // 40 ms of delay, and 1000 bytes in pieces of 100, of which the first waits for nothing.
  assert.ok(performance.now() - startedMs > 40 + 80);
});

test('a proxy that is down breaks open connections, refuses new ones, and returns on its port', async (t) => {
  const port = await listen(t, echo);
  const proxy = await startChaosProxy(t, port);
  const connection = await open(t, proxy.port);
  await connection.write('x');
  await connection.sees('x');
  await proxy.goDown();
  assert.equal(await connection.closed(), 'reset');
  await assert.rejects(connect(proxy.port), /ECONNREFUSED/);
  await proxy.comeUp();
  const again = await open(t, proxy.port);
  await again.write('y');
  await again.sees('y');
  assert.equal(proxy.connections().accepted, 2);
});
