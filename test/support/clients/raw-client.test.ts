import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createServer } from 'node:tls';
import type { Reply } from '../upstreams/fake-reply.ts';
import { startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { localhostCertificate, localhostKey } from '../upstreams/localhost-certificate.ts';
import { type RawRequest, request, sendPipelined, toRequestBytes } from './raw-client.ts';
import { connect } from './raw-connection.ts';

/** What the client makes of an answer that is exactly this. */
async function read(t: TestContext, answer: (reply: Reply) => unknown, options: Partial<RawRequest> = {}) {
  const server = await startFakeUpstream((_entry, reply) => answer(reply));
  t.after(() => server.close());
  return request({ port: server.port, path: '/', ...options });
}

const sized = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

for (const { name, bytes } of [
  { name: 'a sized body', bytes: `${sized}12345` },
  { name: 'a chunk', bytes: `${chunked}a\r\n12345` },
  { name: 'the last chunk', bytes: `${chunked}5\r\n12345\r\n` },
  { name: 'the last line', bytes: `${chunked}5\r\n12345\r\n0\r\n` },
]) {
  test(`a connection that ends before ${name} leaves an incomplete response with what arrived`, async (t) => {
    const cut = await read(t, async (reply) => {
      await reply.raw(bytes);
      reply.cut();
    });
    assert.deepEqual([cut.status, cut.body.toString(), cut.complete, cut.closed], [200, '12345', false, 'fin']);

    const reset = await read(t, async (reply) => {
      await reply.raw(bytes);
      await reply.sleep(20); // a reset takes along what the client has not yet read
      reply.reset();
    });
    assert.deepEqual(
      [reset.status, reset.body.toString(), reset.complete, reset.closed],
      [200, '12345', false, 'reset'],
    );
  });
}

test('a silent server leaves an incomplete response on an open connection', async (t) => {
  const response = await read(
    t,
    async (reply) => {
      await reply.raw(`${sized}12345`);
      await reply.stall();
    },
    { timeoutMs: 50 },
  );
  assert.deepEqual([response.body.toString(), response.complete, response.closed], ['12345', false, 'open']);
});

test('a connection closed without data has status 0', async (t) => {
  const response = await read(t, (reply) => reply.cut());
  assert.deepEqual([response.status, response.statusLine, response.complete, response.closed], [0, '', false, 'fin']);
});

test('a body without framing is complete at FIN and incomplete at RST', async (t) => {
  const fin = await read(t, async (reply) => {
    await reply.raw('HTTP/1.1 200 OK\r\n\r\nall');
    reply.cut();
  });
  assert.deepEqual([fin.body.toString(), fin.complete], ['all', true]);
  const reset = await read(t, async (reply) => {
    await reply.raw('HTTP/1.1 200 OK\r\n\r\nall');
    await reply.sleep(20);
    reply.reset();
  });
  assert.deepEqual([reset.body.toString(), reset.complete], ['all', false]);
});

test('a complete response keeps order and case of fields, trailers and informational responses', async (t) => {
  const response = await read(t, (reply) =>
    reply.raw(
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Made So\r\nB: 1\r\na: 2\r\nB: 3\r\n' +
        'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n',
    ),
  );
  assert.equal(response.statusLine, 'HTTP/1.1 201 Made So');
  assert.equal(response.status, 201);
  assert.deepEqual(response.headers, [
    ['B', '1'],
    ['a', '2'],
    ['B', '3'],
    ['transfer-encoding', 'chunked'],
  ]);
  assert.equal(response.header('b'), '1, 3');
  assert.equal(response.body.toString(), 'abc');
  assert.deepEqual(response.trailers, [['X-Sum', '9']]);
  assert.deepEqual(response.informational, [
    { status: 103, statusLine: 'HTTP/1.1 103 Early Hints', headers: [['Link', '</a>']] },
  ]);
  assert.equal(response.complete, true);
  assert.equal(response.closed, 'open');
});

test('responses to HEAD, 204 and 304 are complete without a body', async (t) => {
  const head = await read(t, (reply) => reply.raw(sized), { method: 'HEAD' });
  assert.equal(head.complete, true);
  for (const status of [204, 304]) {
    const response = await read(t, (reply) => reply.raw(`HTTP/1.1 ${status} X\r\n\r\n`));
    assert.deepEqual([response.status, response.complete], [status, true]);
  }
});

test('waiting for the close shows bytes after the response', async (t) => {
  const response = await read(
    t,
    async (reply) => {
      await reply.raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      await reply.sleep(20);
      await reply.raw('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n');
      reply.cut();
    },
    { until: 'close' },
  );
  assert.equal(response.body.toString(), 'ok');
  assert.equal(response.closed, 'fin');
  assert.ok(response.rawBytes.toString().endsWith('500 Oops\r\nContent-Length: 0\r\n\r\n'));
});

test('bytes that are no response fail the call and are shown', async (t) => {
  await assert.rejects(
    read(t, (reply) => reply.raw('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n')),
    /both Transfer-Encoding and Content-Length.*HTTP\/1\.1 200 OK/,
  );
});

test('each piece of the body is kept as it arrived', async (t) => {
  const response = await read(t, (reply) => reply.sse(['one', 'two', 'three'], { everyMs: 20 }));
  assert.deepEqual(
    response.chunks.map(({ bytes }) => bytes.toString()),
    ['data: one\n\n', 'data: two\n\n', 'data: three\n\n'],
  );
  const times = response.chunks.map(({ atMs }) => atMs);
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  );
});

test('pipelined responses stop at the first incomplete one', async (t) => {
  const server = await startFakeUpstream([
    (_entry, reply) => reply.json(200, 1),
    async (_entry, reply) => {
      await reply.raw(sized);
      reply.cut();
    },
  ]);
  t.after(() => server.close());
  const requests = ['/1', '/2', '/3'].map((path) => toRequestBytes({ path }));
  const responses = await sendPipelined(server.port, requests);
  assert.deepEqual(
    responses.map(({ complete }) => complete),
    [true, false],
  );
});

test('an ordinary request has the mandatory fields only', () => {
  assert.equal(
    toRequestBytes({ path: '/a', port: 80, body: { b: 1 }, headers: [['X-C', '2']] }).toString(),
    'POST /a HTTP/1.1\r\nX-C: 2\r\nhost: 127.0.0.1:80\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"b":1}',
  );
  assert.equal(toRequestBytes({ path: '/', headers: [['Host', 'h']] }).toString(), 'GET / HTTP/1.1\r\nHost: h\r\n\r\n');
});

test('responses are read and resets are sent over TLS as well', async (t) => {
  let note: (error: NodeJS.ErrnoException) => void = () => undefined;
  const broken = new Promise<NodeJS.ErrnoException>((resolve) => {
    note = resolve;
  });
  const server = createServer({ cert: localhostCertificate, key: localhostKey }, (socket) => {
    socket.on('error', note);
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');

  const connection = await connect(address.port, { tls: { ca: localhostCertificate, servername: 'localhost' } });
  await connection.write(toRequestBytes({ path: '/' }));
  const response = await connection.nextResponse();
  assert.deepEqual([response.status, response.body.toString(), response.complete], [200, 'ok', true]);
  connection.reset();
  assert.equal((await broken).code, 'ECONNRESET');
});
