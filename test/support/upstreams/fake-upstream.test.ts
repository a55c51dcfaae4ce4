import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { request, send, sendPipelined, toRequestBytes } from '../clients/raw-client.ts';
import { connect } from '../clients/raw-connection.ts';
import { type Script, startFakeUpstream } from './fake-upstream.ts';

async function startFor(t: TestContext, script?: Script) {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  return upstream;
}

test('the journal has each request exactly as received', async (t) => {
  const upstream = await startFor(t);
  const head = 'POST /v1/embeddings?a=1 HTTP/1.1\r\nHOST: x\r\nx-b:  2 \r\nX-B: 3\r\ncontent-length: 4\r\n\r\n';
  await send(upstream.port, [head, 'ab', { bytes: 'cd', afterMs: 5 }]);

  const [entry] = upstream.requests;
  assert.equal(upstream.requests.length, 1);
  assert.equal(entry?.method, 'POST');
  assert.equal(entry?.path, '/v1/embeddings?a=1');
  assert.equal(entry?.rawHead.toString('latin1'), head);
  assert.deepEqual(entry?.headers, [
    ['HOST', 'x'],
    ['x-b', '2'],
    ['X-B', '3'],
    ['content-length', '4'],
  ]);
  assert.equal(entry?.header('x-b'), '2, 3');
  assert.equal(entry?.body.toString(), 'abcd');
  assert.equal(entry?.complete, true);
  assert.equal(entry?.connectionNo, 1);
  assert.equal(upstream.receivedBytes, head.length + 4);
});

test('a truncated request is in the journal as incomplete', async (t) => {
  const upstream = await startFor(t);
  const connection = await connect(upstream.port);
  await connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf');
  connection.finish();
  await connection.closed();

  assert.equal(upstream.requests[0]?.body.toString(), 'half');
  assert.equal(upstream.requests[0]?.complete, false);
});

test('a malformed request is listed as such and answered with 400', async (t) => {
  const upstream = await startFor(t);
  for (const bytes of [
    'GET / HTTP/1.0\r\nHost: x\r\n\r\n',
    'GET  / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ]) {
    const response = await send(upstream.port, bytes, { until: 'close' });
    assert.equal(response.status, 400, bytes);
    assert.equal(response.closed, 'fin');
  }
  assert.equal(upstream.malformed.length, 5);
  assert.deepEqual(upstream.requests, []);
});

test('a connection is reused, and pipelined requests are answered in order', async (t) => {
  const upstream = await startFor(t, async (entry, reply) => {
    if (entry.path === '/slow') await reply.sleep(20);
    await reply.json(200, entry.path);
  });
  const responses = await sendPipelined(upstream.port, [
    toRequestBytes({ path: '/slow' }),
    toRequestBytes({ path: '/quick' }),
  ]);

  assert.deepEqual(
    responses.map((response) => response.json()),
    ['/slow', '/quick'],
  );
  assert.deepEqual(
    upstream.requests.map((entry) => entry.connectionNo),
    [1, 1],
  );
});

test('each request uses the next handler of a list, and the last handler serves all further ones', async (t) => {
  const upstream = await startFor(t, [
    (_entry, reply) => reply.json(503, 'first'),
    (_entry, reply) => reply.json(200, 'then'),
  ]);
  const statuses: number[] = [];
  for (let count = 0; count < 3; count += 1) {
    statuses.push((await request({ port: upstream.port, path: '/' })).status);
  }
  assert.deepEqual(statuses, [503, 200, 200]);
});

test('a handler can answer at the head while the body arrives', async (t) => {
  const upstream = await startFor(t);
  upstream.respondWith((entry, reply) => reply.json(413, entry.complete), { at: 'head' });
  const response = await send(upstream.port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n');
  assert.equal(response.status, 413);
  assert.equal(response.json(), false);
});

test('a handler is notified when its client disconnects', async (t) => {
  let gone: () => void = () => undefined;
  const seen = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const upstream = await startFor(t, async (_entry, reply) => {
    await reply.head(200, [['transfer-encoding', 'chunked']]);
    await reply.chunk('begin');
    await reply.clientClosed;
    gone();
  });
  const connection = await connect(upstream.port);
  await connection.write(toRequestBytes({ path: '/' }));
  await connection.sees('begin');
  assert.deepEqual(upstream.connections(), { open: 1, accepted: 1 });
  connection.reset();
  await seen;
});

test('nextRequest returns each complete request once', async (t) => {
  const upstream = await startFor(t);
  const early = upstream.nextRequest();
  await request({ port: upstream.port, path: '/one' });
  await request({ port: upstream.port, path: '/two' });
  assert.equal((await early).path, '/one');
  assert.equal((await upstream.nextRequest()).path, '/two');
});

test('an exception in a handler is thrown by close', async () => {
  const upstream = await startFakeUpstream(() => {
    throw new Error('the request was not as expected');
  });
  const response = await request({ port: upstream.port, path: '/' });
  assert.equal(response.complete, false);
  await assert.rejects(upstream.close(), /not as expected/);
});

test('close ends everything a handler waits for', async () => {
  const upstream = await startFakeUpstream((_entry, reply) => reply.sleep(3_600_000));
  const connection = await connect(upstream.port);
  await connection.write(toRequestBytes({ path: '/' }));
  await upstream.nextRequest();
  await upstream.close();
  assert.notEqual(await connection.closed(), 'open');
});

test('reply.bytes and reply.sse send the given headers plus content-length or chunked framing', async (t) => {
  const upstream = await startFor(t, [
    (_entry, reply) => reply.bytes(200, [['X-One', '1']], 'abc'),
    (_entry, reply) => reply.bytes(200, [], ['ab', 'c'], { chunked: true }),
    (_entry, reply) => reply.bytes(204, [], ''),
    (_entry, reply) => reply.sse([{ a: 1 }, '[DONE]']),
  ]);
  const raw: string[] = [];
  for (let count = 0; count < 4; count += 1) {
    raw.push((await request({ port: upstream.port, path: '/' })).rawBytes.toString());
  }
  assert.deepEqual(raw, [
    'HTTP/1.1 200 OK\r\nX-One: 1\r\ncontent-length: 3\r\n\r\nabc',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n' +
      'f\r\ndata: {"a":1}\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n',
  ]);
});
