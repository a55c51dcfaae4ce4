/** What comes back: status, status text and body as the upstream sent them, however they were framed, split or encoded. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type HeaderField, toHead } from '../support/clients/http-message.ts';
import { send, sendPipelined } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { openaiRoutes } from '../support/gateways/openai-routes.ts';
import {
  ask,
  authorized,
  fromUpstream,
  newestExchange,
  question,
  questionBytes,
  startPair,
} from '../support/gateways/pair.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const requiredFields: Readonly<Record<string, string>> = {
  completions: '"prompt":"p"',
  edits: '"input":"i","instruction":"do"',
  rerank: '"query":"q","documents":["d"]',
  moderations: '"input":"i"',
  embeddings: '"input":"i"',
  images: '"prompt":"p"',
  image_edits: '"prompt":"p","images":[{}]',
  speech: '"input":"i"',
  chat: '"messages":[{"role":"user","content":"c"}]',
  responses: '"input":"i"',
};

const json: HeaderField = ['Content-Type', 'application/json'];

/** Sends these bytes as they are, in one piece. */
const answering =
  (bytes: Buffer | string): Handler =>
  (_request, reply) =>
    reply.raw(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);

/** Sends each byte as a segment of its own. */
const bytewise =
  (bytes: Buffer): Handler =>
  async (_request, reply) => {
    for (const byte of bytes) {
      await reply.raw(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

test('on all routes, status, reason, headers and body are passed unchanged', async (t) => {
  const pair = await startPair(t);
  const body = '{ "id":1.0,\n "é":"\\u00e9", "n":1e3, "big":12345678901234567890, "n":2 }\n';
  const headers: HeaderField[] = [
    ['X-Zeta', '1'],
    ['x-alpha', '2'],
    ['X-ZETA', '3'],
    ['Content-TYPE', 'application/json; charset=utf-8'],
    ['Date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['X-Empty', ''],
    ['Retry-After', '7'],
    ['x-alpha', ''],
    ['CONTENT-length', String(Buffer.byteLength(body))],
    ['ETag', 'W/"a, b"'],
  ];
  const statusLine = 'HTTP/1.1 203 Perfectly  fine: (mostly) @ 100%';
  pair.upstream.respondWith(answering(Buffer.concat([toHead(statusLine, headers), Buffer.from(body)])));
  for (const { path, operation } of openaiRoutes) {
    const asked = `{"model":"m",${requiredFields[operation]}}`;
    const answer = await pair.rig.post(path.replace('{model}', 'm'), asked);
    assert.equal(answer.statusLine, statusLine, path);
    assert.equal(answer.body.toString(), body, path);
    assert.deepEqual(fromUpstream(answer), headers, path);
    assert.equal(answer.complete, true, path);
  }
  assert.equal(pair.upstream.requests.length, openaiRoutes.length);
});

const errorBodies: readonly (readonly [type: string, body: string | Buffer])[] = [
  ['application/json', '{"error":{"message":"m","type":"t","param":null,"code":"c"}}'],
  ['application/json', '{"message":"cohere says no"}'],
  ['application/json', '{"error":"tei says no","error_type":"validation"}'],
  ['application/json', '[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]'],
  ['application/json', '{"half": '],
  ['text/html; charset=utf-8', '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>\r\n'],
  ['text/plain', 'upstream connect error or disconnect/reset before headers'],
  ['text/event-stream', 'event: error\ndata: {"error":{}}\n\n'],
  ['application/octet-stream', Buffer.from([0, 1, 2, 0xff, 0xfe, 13, 10, 13, 10])],
  ['application/problem+json', ''],
];

test('every status from 200 to 299 and 400 to 599 passes, with any body', async (t) => {
  const pair = await startPair(t);
  const connection = await connect(pair.rig.port);
  t.after(() => connection.destroy());
  const statuses = Array.from({ length: 400 }, (_, i) => 200 + i).filter((status) => status < 300 || status >= 400);
  for (const status of statuses) {
    const [type, body] = errorBodies[status % errorBodies.length] ?? ['', ''];
    const headers: HeaderField[] = [['Content-Type', type], ...(status === 204 ? [] : [lengthOf(body)])];
    const sent = status === 204 ? '' : body;
    const statusLine = `HTTP/1.1 ${status} Number ${status}`;
    pair.upstream.respondWith(answering(Buffer.concat([toHead(statusLine, headers), Buffer.from(sent)])));
    await connection.write(questionBytes());
    const answer = await connection.nextResponse();
    assert.equal(answer.statusLine, statusLine);
    assert.deepEqual(fromUpstream(answer), headers, statusLine);
    assert.ok(answer.body.equals(Buffer.from(sent)), statusLine);
    assert.equal((await newestExchange(pair)).status, status);
  }
  assert.equal(pair.rig.settled.length, statuses.length);
});

function lengthOf(body: string | Buffer): HeaderField {
  return ['content-length', String(Buffer.byteLength(body))];
}

test('a status line may lack a reason, or have one in Latin-1 or UTF-8', async (t) => {
  const pair = await startPair(t);
  for (const text of ['', ' ', ' Größe', ` ${Buffer.from('模型 ünï').toString('latin1')}`]) {
    pair.upstream.respondWith(answering(`HTTP/1.1 200${text}\r\ncontent-length: 2\r\n\r\n{}`));
    const answer = await ask(pair);
    assert.equal(answer.statusLine, `HTTP/1.1 200${text.padEnd(1)}`);
    assert.equal(answer.body.toString(), '{}');
  }
});

test('a response without a body (204, 304, length 0) passes without one, and both connections are reused', async (t) => {
  const pair = await startPair(t);
  const connection = await connect(pair.rig.port);
  t.after(() => connection.destroy());
  const bodiless: [sent: string, framing: Record<string, string | undefined>][] = [
    ['HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n', {}],
    ['HTTP/1.1 204 No Content\r\nX-A: 1\r\nTrailer: X-T\r\n\r\n', {}],
    ['HTTP/1.1 304 Not Modified\r\nX-A: 1\r\nETag: "x"\r\n\r\n', {}],
    ['HTTP/1.1 304 Not Modified\r\nX-A: 1\r\nTrailer: X-T\r\n\r\n', {}],
    ['HTTP/1.1 202 OK\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n', { 'content-length': '0' }],
    ['HTTP/1.1 202 OK\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', { 'transfer-encoding': 'chunked' }],
    ['HTTP/1.1 500 Oh\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n', { 'content-length': '0' }],
    ['HTTP/1.1 503 Oh\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', { 'transfer-encoding': 'chunked' }],
  ];
  for (const [sent, framing] of bodiless) {
    pair.upstream.respondWith(answering(sent));
    await connection.write(questionBytes());
    const answer = await connection.nextResponse();
    assert.equal(answer.statusLine, sent.slice(0, sent.indexOf('\r\n')));
    assert.equal(answer.header('x-a'), '1', sent);
    assert.equal(answer.complete, true, sent);
    assert.equal(answer.body.length, 0, sent);
    assert.equal(answer.header('content-length'), framing['content-length'], sent);
    assert.equal(answer.header('transfer-encoding'), framing['transfer-encoding'], sent);
  }
  assert.equal(pair.upstream.connections().accepted, 1);
  assert.equal(pair.rig.settled.length, bodiless.length);
});

test('a body keeps its framing: a length stays a length, chunks stay chunks', async (t) => {
  const pair = await startPair(t);
  const parts = ['"on', 'two two', 'three'];
  for (const chunked of [false, true]) {
    pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json], parts, { chunked }));
    const answer = await ask(pair);
    assert.equal(answer.body.toString(), parts.join(''));
    assert.equal(answer.header('content-length'), chunked ? undefined : '15');
    assert.equal(answer.header('transfer-encoding'), chunked ? 'chunked' : undefined);
  }
});

test('a response that arrives byte by byte is passed on unchanged', async (t) => {
  const pair = await startPair(t);
  const head = [
    'HTTP/1.1 201 Made for you',
    'X-Empty:',
    'x-one: 1',
    'X-Long: a b  c',
    'Content-Type: application/json',
  ];
  const length = Buffer.from([...head, 'Content-Length: 11', '', '{"a":[1,2]}'].join('\r\n'));
  const chunks = Buffer.from(
    [...head, 'Transfer-Encoding: chunked', '', '5;ext=1', '{"a":', '006', '[1,2]}', '0', 'X-T: 1', '', ''].join(
      '\r\n',
    ),
  );
  for (const bytes of [length, chunks]) {
    pair.upstream.respondWith(bytewise(bytes));
    const answer = await ask(pair);
    assert.equal(answer.statusLine, 'HTTP/1.1 201 Made for you');
    assert.deepEqual(fromUpstream(answer).slice(0, 4), [
      ['X-Empty', ''],
      ['x-one', '1'],
      ['X-Long', 'a b  c'],
      ['Content-Type', 'application/json'],
    ]);
    assert.equal(answer.body.toString(), '{"a":[1,2]}');
    assert.equal(answer.complete, true);
  }
});

const ok = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\n"final"';
const interim: readonly string[] = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 100\r\nX-Why: not\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\nContent-Length: 3\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n',
];

test('informational responses end at the gateway, and the final one passes', async (t) => {
  const pair = await startPair(t);
  const connection = await connect(pair.rig.port);
  t.after(() => connection.destroy());
  let asked = 0;
  for (const before of interim) {
    for (const after of [ok, ok.replace('200 OK', '429 Slow down')]) {
      for (const make of [answering, bytewise]) {
        pair.upstream.respondWith(make(Buffer.from(before + after)));
        await connection.write(questionBytes());
        const answer = await connection.nextResponse();
        assert.equal(answer.statusLine, after.slice(0, after.indexOf('\r\n')), before);
        assert.equal(answer.body.toString(), '"final"', before);
        assert.deepEqual(answer.informational, [], before);
        assert.equal(answer.header('link'), undefined);
        assert.equal(answer.header('x-why'), undefined);
        asked += 1;
      }
    }
  }
  assert.equal(pair.upstream.requests.length, asked);
  assert.equal(pair.upstream.connections().accepted, 1, 'an informational answer costs no connection');
});

test('text like an informational response inside a body stays in the body', async (t) => {
  const body = '"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n';
  const pair = await startPair(t, (_request, reply) => reply.bytes(200, [json], [body, body, body]));
  assert.equal((await ask(pair)).body.toString(), body.repeat(3));
});

test('compressed bodies pass unchanged, with any encoding, success or error', async (t) => {
  const pair = await startPair(t);
  const plain = JSON.stringify({ data: Array.from({ length: 50 }, (_, i) => ({ index: i, embedding: [i / 7] })) });
  const encodings: [name: string, bytes: Buffer][] = [
    ['gzip', gzipSync(plain)],
    ['x-gzip', gzipSync(plain, { level: 1 })],
    ['br', brotliCompressSync(plain)],
    ['zstd', zstdCompressSync(plain)],
    ['deflate', deflateSync(plain)],
    ['dcb', Buffer.from([1, 2, 3, 0, 255])],
    ['gzip, br', brotliCompressSync(gzipSync(plain))],
    ['identity', Buffer.from(plain)],
    ['gzip', Buffer.from('this is no gzip')],
    ['gzip', gzipSync(plain).subarray(0, 40)],
  ];
  for (const [name, bytes] of encodings) {
    for (const status of [200, 422]) {
      for (const chunked of [false, true]) {
        const headers: HeaderField[] = [json, ['Content-Encoding', name]];
        pair.upstream.respondWith((_request, reply) => reply.bytes(status, headers, bytes, { chunked }));
        const answer = await ask(pair, ['Accept-Encoding', 'gzip, br, zstd']);
        assert.equal(answer.status, status);
        assert.equal(answer.header('content-encoding'), name);
        assert.ok(answer.body.equals(bytes), `${name} ${status}`);
        assert.equal(answer.complete, true);
      }
    }
  }
});

test('vectors keep every digit, and base64 every character', async (t) => {
  const pair = await startPair(t);
  const floats = '{"data":[{"embedding":[-0.0,0.10,1e-7,1E+3,-1.2345678901234567e-05,0,1.0],"index":0}]}';
  const wide = Float32Array.from({ length: 3072 }, (_, i) => Math.sin(i));
  const base64 = Buffer.from(wide.buffer).toString('base64');
  const many = `{"data":[${Array.from({ length: 200 }, (_, i) => `{"index":${i},"embedding":"${base64}"}`).join(',')}]}`;
  for (const body of [floats, `{"data":[{"embedding":"${base64.replaceAll('/', '\\/')}"}]}`, many]) {
    for (const chunked of [false, true]) {
      pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json], body, { chunked }));
      const answer = await ask(pair);
      assert.ok(answer.body.equals(Buffer.from(body)));
    }
  }
});

test('an HTTP/1.0 client gets a length, or a body that ends with the connection', async (t) => {
  const pair = await startPair(t);
  const head = `POST /v1/embeddings HTTP/1.0\r\nAuthorization: ${authorized()[0]?.[1]}\r\n`;
  const asked = `${head}Content-Length: ${question.length}\r\n\r\n${question}`;
  for (const chunked of [false, true]) {
    pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json], ['"fixed', ' body"'], { chunked }));
    const answer = await send(pair.rig.port, asked, { until: 'close' });
    assert.equal(answer.status, 200);
    assert.equal(answer.body.toString(), '"fixed body"');
    assert.equal(answer.header('content-length'), chunked ? undefined : '12');
    assert.equal(answer.header('transfer-encoding'), undefined);
    assert.equal(answer.closed, 'fin');
  }
});

test("a body ended by the upstream's connection is complete, and ends properly", async (t) => {
  const pair = await startPair(t);
  for (const version of ['1.0', '1.1']) {
    for (const status of ['200 OK', '500 Oh']) {
      pair.upstream.respondWith(async (_request, reply) => {
        await reply.raw(`HTTP/${version} ${status}\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"first `);
        await reply.raw('second"');
        reply.cut();
      });
      const answer = await ask(pair);
      assert.equal(answer.statusLine, `HTTP/1.1 ${status}`);
      assert.equal(answer.body.toString(), '"first second"');
      assert.equal(answer.header('transfer-encoding'), 'chunked');
      assert.equal(answer.complete, true);
      assert.equal((await newestExchange(pair)).cut, false);
    }
  }
});

test('extra bytes of an upstream after its response reach no client', async (t) => {
  const pair = await startPair(t);
  const planted = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nplanted';
  const connection = await connect(pair.rig.port);
  t.after(() => connection.destroy());
  for (const beyond of ['EXTRA', planted, '\r\n\r\n', `\r\n${planted}`]) {
    pair.upstream.respondWith([answering(ok + beyond), answering(ok.replace('final', 'other'))]);
    for (const expected of ['"final"', '"other"']) {
      await connection.write(questionBytes());
      const answer = await connection.nextResponse();
      assert.equal(answer.status, 200);
      assert.equal(answer.body.toString(), expected);
    }
  }
  assert.ok(!connection.received().includes('planted'));
});

test('one upstream connection serves requests in sequence, and any number in parallel', async (t) => {
  const pair = await startPair(t);
  for (let i = 0; i < 20; i += 1) await ask(pair);
  assert.equal(pair.upstream.connections().accepted, 1);

  let waiting = 0;
  let release = (): void => {};
  const allHere = new Promise<void>((resolve) => {
    release = resolve;
  });
  pair.upstream.respondWith(async (_request, reply) => {
    waiting += 1;
    if (waiting === 8) release();
    await allHere;
    await reply.json(200, {});
  });
  await Promise.all(Array.from({ length: 8 }, () => ask(pair)));
  assert.equal(pair.upstream.connections().accepted, 8);
});

test('pipelined requests are answered in order', async (t) => {
  const pair = await startPair(t, async (request, reply) => {
    const { delayMs } = JSON.parse(request.body.toString());
    await reply.sleep(delayMs);
    await reply.bytes(200, [json], request.body);
  });
  const asked = [60, 0, 30, 0].map((delayMs) => `{"model":"m","input":"x","delayMs":${delayMs}}`);
  const answers = await sendPipelined(
    pair.rig.port,
    asked.map((body) => questionBytes(body)),
  );
  assert.deepEqual(
    answers.map((answer) => answer.body.toString()),
    asked,
  );
});
