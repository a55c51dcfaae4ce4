/** What becomes of a request whose upstream cannot be reached, is late, answers with no HTTP, or sends the client elsewhere. */

import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '../../src/core/errors.ts';
import { assertError } from '../support/clients/error-answer.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { connect, type RawConnection } from '../support/clients/raw-connection.ts';
import { type Pair, questionBytes, startPair, toDocument, upstreamCredential } from '../support/gateways/pair.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { listen } from '../support/upstreams/listen.ts';
import { localhostCertificate, localhostKey } from '../support/upstreams/localhost-certificate.ts';

const fine: Handler = (_request, reply) => reply.bytes(200, [], '"fine again"');

async function connectTo(t: TestContext, { port }: Rig): Promise<RawConnection> {
  const connection = await connect(port);
  t.after(() => connection.destroy());
  return connection;
}

async function askOn(connection: RawConnection, body?: Buffer): Promise<RawResponse> {
  await connection.write(questionBytes(body));
  return connection.nextResponse();
}

async function assertFault(
  rig: Rig,
  answer: RawResponse,
  code: ErrorCode,
  message = /./,
  of = 'the answer',
): Promise<void> {
  assertError(answer, code, { message, of });
  const exchange = await rig.exchange(rig.settled.length);
  assert.ok(!answer.rawBytes.includes(upstreamCredential));
  assert.ok(!(exchange.errorCause ?? '').includes(upstreamCredential));
}

/** The next call finds a new connection: on one that was kept, a fault before the first byte may be nobody's. */
const fineAndClosing: Handler = (_request, reply) => reply.bytes(200, [['connection', 'close']], '"fine again"');

/** One faulty answer after another, and a good one after each, all for one client on one connection. */
async function assertFaults(t: TestContext, pair: Pair, faults: readonly Handler[], code: ErrorCode): Promise<void> {
  const connection = await connectTo(t, pair.rig);
  for (const [i, fault] of faults.entries()) {
    pair.upstream.respondWith([fault, fineAndClosing]);
    await assertFault(pair.rig, await askOn(connection), code, undefined, `fault ${i}`);
    const exchange = await pair.rig.exchange(2 * i + 1);
    assert.equal(exchange.errorCode, code, `fault ${i}`);
    assert.equal(exchange.status, 502, `fault ${i}`);
    assert.equal(exchange.cut, false, `fault ${i}`);
    assert.ok((exchange.errorCause ?? '').length > 0, `fault ${i} left no cause for the log`);
    assert.equal((await askOn(connection)).body.toString(), '"fine again"');
  }
  await pair.rig.exchange(2 * faults.length);
  assert.equal(pair.rig.settled.length, 2 * faults.length);
}

test('a refused connection is upstream_unreachable, until the upstream listens again', async (t) => {
  const gone = await startFakeUpstream();
  await gone.close();
  const rig = await startRig(t, toDocument(gone.url));
  const connection = await connectTo(t, rig);
  for (let i = 1; i <= 3; i += 1) await assertFault(rig, await askOn(connection), 'upstream_unreachable');
  assert.match((await rig.exchange(1)).errorCause ?? '', /ECONNREFUSED/);
  const back = await startFakeUpstream(fine, { port: gone.port });
  t.after(() => back.close());
  assert.equal((await askOn(connection)).body.toString(), '"fine again"');
});

test('an upstream that closes or resets instead of answering is upstream_unreachable', async (t) => {
  const pair = await startPair(t);
  const faults: Handler[] = [
    (_request, reply) => reply.cut(),
    (_request, reply) => reply.reset(),
    async (_request, reply) => {
      await reply.raw('HTTP/1.1 200');
      reply.cut();
    },
    async (_request, reply) => {
      await reply.raw('HTTP/1.1 100 Continue\r\n\r\n');
      reply.cut();
    },
    async (_request, reply) => {
      await reply.raw('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n');
      reply.reset();
    },
  ];
  await assertFaults(t, pair, faults, 'upstream_unreachable');
});

const raw =
  (text: string): Handler =>
  (_request, reply) =>
    reply.raw(Buffer.from(text, 'latin1'));

const okWith = (...lines: readonly string[]): string => ['HTTP/1.1 200 OK', ...lines, '', 'body'].join('\r\n');

const noHttp: readonly string[] = [
  'this is no HTTP\r\n\r\n',
  '<html><body>It works!</body></html>\n',
  '{"error":"no head"}',
  'SSH-2.0-OpenSSH_9.6\r\n',
  '\x15\x03\x01\x00\x02\x02\x28',
  '\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64',
  'HTTP/1.1 2OO OK\r\n\r\n',
  'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n',
  'HTTP/7.3 200 OK\r\nContent-Length: 0\r\n\r\n',
  'ICY 200 OK\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  okWith('Content-Length: 4', 'Transfer-Encoding: chunked'),
  okWith('Content-Length: 4', 'Content-Length: 5'),
  okWith('Content-Length: 4, 5'),
  okWith('Content-Length: -4'),
  okWith('Content-Length: 0x4'),
  okWith('Content-Length: 4', 'X-Bad: a\x00b'),
  okWith('Content-Length: 4', 'X-Bad: a\x7fb'),
  okWith('Content-Length: 4', 'X Bad: 1'),
  okWith('Content-Length: 4', 'X-Bad : 1'),
  okWith('Content-Length: 4', 'X-Folded: 1', '  2'),
  okWith('Content-Length: 4', 'no colon'),
];

test('a non-HTTP response is upstream_protocol_error, and none of it reaches the client', async (t) => {
  await assertFaults(t, await startPair(t), noHttp.map(raw), 'upstream_protocol_error');
});

test('a head over 64 KiB is upstream_protocol_error, informational ones too', async (t) => {
  const filler = (count: number, bytes: number): string =>
    Array.from({ length: count }, (_, i) => `X-Filler-${i}: ${'f'.repeat(bytes)}\r\n`).join('');
  const faults = [
    raw(`HTTP/1.1 200 OK\r\n${filler(1, 100_000)}Content-Length: 0\r\n\r\n`),
    raw(`HTTP/1.1 200 OK\r\n${filler(2_000, 50)}Content-Length: 0\r\n\r\n`),
    raw(`HTTP/1.1 200 ${'x'.repeat(200_000)}`),
    raw(`HTTP/1.1 100 Continue\r\n${filler(2_000, 50)}\r\n`),
  ];
  await assertFaults(t, await startPair(t), faults, 'upstream_protocol_error');
});

test("an invalid chunk after the head breaks the client's response, after the chunks before it", async (t) => {
  const pair = await startPair(t);
  for (const broken of ['zz\r\n', '-1\r\n', '5\r\nfive!!!', '99999999999999999999\r\n', '4\nbody']) {
    pair.upstream.respondWith(raw(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"good\r\n${broken}`));
    const connection = await connectTo(t, pair.rig);
    const answer = await askOn(connection);
    assert.equal(answer.status, 200, broken);
    assert.match(answer.body.toString(), /^"good/, broken);
    assert.equal(answer.complete, false, broken);
    assert.notEqual(answer.closed, 'open', broken);
  }
  await pair.rig.exchange(5);
  assert.ok(pair.rig.settled.every(({ cut, errorCode }) => cut && errorCode === 'upstream_protocol_error'));
});

test('a redirect is not followed, and its target not shown', async (t) => {
  const trap = await startFakeUpstream();
  t.after(() => trap.close());
  const elsewhere = `${trap.url}/v1/embeddings?key=elsewhere`;
  const to = (status: number, ...more: readonly HeaderField[]): Handler => {
    return (_request, reply) => reply.bytes(status, [['Location', elsewhere], ...more], `moved to ${elsewhere}`);
  };
  let left = (): void => {};
  const endlessLeft = new Promise<void>((resolve) => {
    left = resolve;
  });
  const endless: Handler = async (_request, reply) => {
    await reply.head(302, [
      ['Location', elsewhere],
      ['Transfer-Encoding', 'chunked'],
    ]);
    await reply.stall();
    left();
  };
  const faults = [300, 301, 302, 303, 305, 306, 307, 308, 399].map((status) => to(status));
  faults.push(to(307, ['Refresh', `0; url=${elsewhere}`]), endless);
  const pair = await startPair(t);
  const connection = await connectTo(t, pair.rig);
  for (const [i, fault] of faults.entries()) {
    pair.upstream.respondWith([fault, fine]);
    const answer = await askOn(connection);
    assertError(answer, 'upstream_protocol_error', { message: /redirect/ });
    assert.ok(!answer.rawBytes.includes('elsewhere'), `redirect ${i}`);
    assert.equal(answer.header('location'), undefined);
    assert.equal((await askOn(connection)).body.toString(), '"fine again"');
  }
  await endlessLeft;
  assert.equal(trap.connections().accepted, 0);
  assert.equal(pair.upstream.requests.length, 2 * faults.length, 'each was asked once');
});

test('a connection that takes too long is upstream_timeout, naming connect', async (t) => {
  const full = await startFullListener(t);
  const rig = await startRig(t, toDocument(`http://127.0.0.1:${full}`, { timeouts: { connect: patiently(75) } }));
  const clients = await Promise.all([connectTo(t, rig), connectTo(t, rig)]);
  for (const answer of await Promise.all(clients.map((connection) => askOn(connection)))) {
    await assertFault(rig, answer, 'upstream_timeout', /timeouts\.connect/);
  }
  await rig.exchange(2);
  assert.ok(rig.settled.every(({ status, attempts }) => status === 504 && attempts === 1));
});

/** A port that takes no further connection: its thread sleeps, and its queue is full. The kernel lets newcomers wait. */
async function startFullListener(t: TestContext): Promise<number> {
  const sleep = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const server = require('node:net').createServer();
     server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       setImmediate(() => { Atomics.wait(workerData, 0, 0); server.close(); process.exit(); });
     });`,
    { eval: true, workerData: sleep },
  );
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const queued = await Promise.all(Array.from({ length: 2 }, () => connect(port)));
  t.after(async () => {
    for (const connection of queued) connection.destroy();
    Atomics.store(sleep, 0, 1);
    Atomics.notify(sleep, 0);
    await worker.terminate();
  });
  return port;
}

test('a missing first byte is upstream_timeout, naming first_byte, and ends the call', async (t) => {
  const pair = await startPair(t, undefined, { upstream: { timeouts: { first_byte: patiently(100), idle: '20s' } } });
  const connection = await connectTo(t, pair.rig);
  const silent: Handler = (_request, reply) => reply.stall();
  const onlyContinues: Handler = async (_request, reply) => {
    await reply.raw('HTTP/1.1 100 Continue\r\n\r\n');
    await reply.stall();
  };
  const stillWorking: Handler = async (_request, reply) => {
    while (reply.open) {
      await reply.raw('HTTP/1.1 102 Processing\r\n\r\n');
      await reply.sleep(patientMs(10));
    }
  };
  for (const handler of [silent, onlyContinues, stillWorking]) {
    let ended = (): void => {};
    const left = new Promise<void>((resolve) => {
      ended = resolve;
    });
    pair.upstream.respondWith([
      async (request, reply) => {
        await handler(request, reply);
        ended();
      },
      fine,
    ]);
    await assertFault(pair.rig, await askOn(connection), 'upstream_timeout', /timeouts\.first_byte/);
    await left;
    assert.equal((await askOn(connection)).body.toString(), '"fine again"');
  }
});

/** Reads nothing for a while, then all of it, and answers when the body is whole. */
function startSlowReader(t: TestContext, bodyBytes: number, idleMs: number): Promise<number> {
  return listen(t, (socket) => {
    let receivedBytes = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      if (receivedBytes === 0) {
        socket.pause();
        setTimeout(() => socket.resume(), idleMs).unref();
      }
      receivedBytes += bytes.length;
      if (receivedBytes >= bodyBytes) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"read"');
    });
  });
}

const large = Buffer.from(`{"model":"m","input":"${'x'.repeat(20_000_000)}"}`);

test('the first-byte timeout starts at the last byte of the request, however slowly it was read', async (t) => {
  const port = await startSlowReader(t, large.length, 1_500);
  const rig = await startRig(t, toDocument(`http://127.0.0.1:${port}`, { timeouts: { first_byte: patiently(175) } }));
  const answer = await askOn(await connectTo(t, rig), large);
  assert.equal(answer.body.toString(), '"read"');
});

test('the total timeout covers sending, waiting and reading', async (t) => {
  const neverReads = await startSlowReader(t, large.length, 60_000);
  const timeouts = { first_byte: patiently(150), idle: '20s', total: patiently(150) };
  const stuck = await startRig(t, toDocument(`http://127.0.0.1:${neverReads}`, { timeouts }));
  const connection = await connectTo(t, stuck);
  await assertFault(stuck, await askOn(connection, large), 'upstream_timeout', /timeouts\.total/);

  const pair = await startPair(t, undefined, { upstream: { timeouts } });
  const onPair = await connectTo(t, pair.rig);
  const spelledOut: Handler = async (_request, reply) => {
    for (const letter of `HTTP/1.1 200 OK\r\n${'X-Slow: yes\r\n'.repeat(10)}`) {
      await reply.raw(letter);
      await reply.sleep(patientMs(5));
      if (!reply.open) return;
    }
  };
  pair.upstream.respondWith([spelledOut, fine]);
  await assertFault(pair.rig, await askOn(onPair), 'upstream_timeout', /timeouts\.total/);
  assert.equal((await askOn(onPair)).body.toString(), '"fine again"');
});

test('a response that arrives before the request was sent completely is used', async (t) => {
  const refusal = 'HTTP/1.1 413 Too Much\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\ntoo much';
  const answered = new Set<Socket>();
  const port = await listen(t, (socket) => {
    socket.on('error', () => undefined);
    // It answers at the first bytes of a long body, and goes on reading what comes.
    socket.on('data', (bytes) => {
      if (answered.has(socket)) return;
      answered.add(socket);
      const long = /content-length: \d{6}/i.test(bytes.toString('latin1'));
      socket.write(long ? refusal : 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"fine again"');
    });
  });
  const rig = await startRig(t, toDocument(`http://127.0.0.1:${port}`));
  const connection = await connectTo(t, rig);
  for (let i = 0; i < 3; i += 1) {
    const answer = await askOn(connection, large);
    assert.equal(answer.statusLine, 'HTTP/1.1 413 Too Much');
    assert.equal(answer.body.toString(), 'too much');
    answered.clear();
    assert.equal((await askOn(connection)).body.toString(), '"fine again"');
    answered.clear();
  }
  await rig.exchange(6);
  assert.ok(rig.settled.every(({ errorCode, cut }) => errorCode === undefined && !cut));
});

test('an upstream that disconnects while the request is sent is only a failed call', async (t) => {
  const port = await listen(t, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      if (/content-length: \d{6}/i.test(bytes.toString('latin1'))) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"fine again"');
    });
  });
  const rig = await startRig(t, toDocument(`http://127.0.0.1:${port}`));
  const connection = await connectTo(t, rig);
  await assertFault(rig, await askOn(connection, large), 'upstream_unreachable');
  assert.equal((await askOn(connection)).body.toString(), '"fine again"');
});

test('a connection that the upstream closed while idle fails no request', async (t) => {
  const pair = await startPair(t, async (_request, reply) => {
    await reply.bytes(200, [], '"fine again"');
    reply.cut();
  });
  const connection = await connectTo(t, pair.rig);
  for (let i = 0; i < 20; i += 1) assert.equal((await askOn(connection)).body.toString(), '"fine again"');
});

test('an upstream without TLS, or with an untrusted certificate, is upstream_unreachable', async (t) => {
  const plain = await listen(t, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));
  });
  let asked = 0;
  const selfSigned = createServer({ cert: localhostCertificate, key: localhostKey }, (_request, response) => {
    asked += 1;
    response.end('"fine again"');
  });
  await new Promise<void>((resolve) => selfSigned.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => selfSigned.close(resolve)));
  const address = selfSigned.address();
  assert.ok(address !== null && typeof address !== 'string');
  for (const port of [plain, address.port]) {
    const rig = await startRig(t, toDocument(`https://127.0.0.1:${port}`));
    await assertFault(rig, await askOn(await connectTo(t, rig)), 'upstream_unreachable');
  }
  assert.equal(asked, 0, 'a request went to a server that nobody vouches for');
});
