/** Bodies in flight share a memory budget: which get memory, wait or are refused, and that all of it is released. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import { toChunk } from '../support/clients/http-message.ts';
import { type RawResponse, send, toRequestBytes } from '../support/clients/raw-client.ts';
import { connect, type RawConnection } from '../support/clients/raw-connection.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { patiently } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const KiB = 1024;
const secrets = { test: testKey, other: 'other-key-with-enough-characters', third: 'third-key-with-enough-characters' };

interface Setup {
  readonly rig: Rig;
  readonly upstream: FakeUpstream;
}

/** 4 MiB for all bodies and 1 MiB for each; a key has 1 MiB, and beside it one body that is longer once it is decoded. */
async function open(
  t: TestContext,
  more: { server?: RigDocument; keys?: readonly RigDocument[] } = {},
): Promise<Setup> {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server: { body_limit: '1MiB', body_memory: '4MiB', ...more.server },
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [
      { id: 'm', targets: [{ upstream: 'up' }] },
      { id: 'renamed', space: 's', targets: [{ upstream: 'up', model: 'a-rather-longer-name' }] },
    ],
    keys: more.keys ?? Object.entries(secrets).map(([id, secret]) => ({ id, secret })),
  });
  return { rig, upstream };
}

const question = (bytes: number, model = 'm'): Buffer => {
  const empty = JSON.stringify({ model, input: '' }).length;
  return Buffer.from(JSON.stringify({ model, input: 'x'.repeat(bytes - empty) }));
};

type Header = readonly [string, string];

function requestBytes(body: Buffer, more: readonly Header[] = [], key = testKey): Buffer {
  const headers: Header[] = [['Authorization', `Bearer ${key}`], ...more];
  return toRequestBytes({ path: '/v1/embeddings', headers, body: more.includes(chunked) ? inChunks(body) : body });
}

const chunked: Header = ['Transfer-Encoding', 'chunked'];

function inChunks(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += 50_000) pieces.push(toChunk(body.subarray(at, at + 50_000)));
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

/** The head of a request that announces more than it sends. */
async function announce(rig: Rig, bytes: number, key = testKey, more: readonly Header[] = []): Promise<RawConnection> {
  const connection = await connect(rig.port);
  const lines = [
    'POST /v1/embeddings HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${key}`,
    `Content-Length: ${bytes}`,
    ...more.map(([name, value]) => `${name}: ${value}`),
  ];
  await connection.write(`${lines.join('\r\n')}\r\n\r\n`);
  return connection;
}

/** At its best it takes seconds. */
const brotli = (body: Buffer): Buffer => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

const held = ({ rig }: Setup): number => rig.app.memory().requests.heldBytes;
const waiting = ({ rig }: Setup): number => rig.app.memory().requests.waiting;

const isEmpty = (setup: Setup) => until(() => held(setup) === 0 && waiting(setup) === 0);

test('every content coding is decoded in chunks of any size, and counts uncompressed', async (t) => {
  const setup = await open(t);
  const { rig, upstream } = setup;
  const bodies = [
    question(30),
    question(200_000),
    Buffer.from(JSON.stringify({ model: 'm', input: randomBytes(150_000).toString('hex') })),
  ];
  const codings: Readonly<Record<string, (body: Buffer) => Buffer>> = {
    gzip: gzipSync,
    deflate: deflateSync,
    Deflate: deflateRawSync,
    br: brotli,
    zstd: zstdCompressSync,
  };
  for (const [name, encode] of Object.entries(codings)) {
    for (const body of bodies) {
      for (const more of [[], [chunked]]) {
        const bytes = requestBytes(encode(body), [['Content-Encoding', name], ...more]);
        for (const cut of [1, bytes.length >> 1]) {
          const answer = await send(rig.port, [bytes.subarray(0, cut), { bytes: bytes.subarray(cut), afterMs: 1 }]);
          assert.equal(answer.status, 200, `${name} ${answer.body}`);
          assert.ok((await upstream.nextRequest()).body.equals(body), name);
        }
      }
    }
  }
  await isEmpty(setup);
});

test('bytes after the compressed data are dropped, and nothing is sent before the body is complete', async (t) => {
  const { rig, upstream } = await open(t);
  const body = question(1000);
  for (const encode of [gzipSync, deflateSync]) {
    const bytes = requestBytes(Buffer.concat([encode(body), Buffer.alloc(300 * KiB)]), [
      ['Content-Encoding', encode === gzipSync ? 'gzip' : 'deflate'],
    ]);
    const client = await connect(rig.port);
    await client.write(bytes.subarray(0, -1));
    assert.equal((await rig.get('/healthz')).status, 200);
    await until(() => rig.app.memory().requests.heldBytes > 0);
    const seen = upstream.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(upstream.requests.length, seen, 'the last byte is not here');
    await client.write(bytes.subarray(-1));
    assert.equal((await client.nextResponse()).status, 200);
    assert.ok((await upstream.nextRequest()).body.equals(body));
    client.destroy();
  }
});

test('a body without a length is forwarded unchanged, across any chunks', async (t) => {
  const setup = await open(t);
  for (const bytes of [30, 16 * KiB - 1, 16 * KiB, 16 * KiB + 1, 300 * KiB, 1024 * KiB]) {
    const body = question(bytes);
    assert.equal((await send(setup.rig.port, requestBytes(body, [chunked]))).status, 200);
    assert.ok((await setup.upstream.nextRequest()).body.equals(body));
  }
  await isEmpty(setup);
});

test('a long body is forwarded with the model renamed and every other byte unchanged', async (t) => {
  const { rig, upstream } = await open(t);
  for (const bytes of [1000, 200 * KiB, 300 * KiB, 1000 * KiB]) {
    const body = question(bytes, 'renamed');
    assert.equal((await rig.post('/v1/embeddings', body)).status, 200);
    const wanted = body.toString().replace('renamed', 'a-rather-longer-name');
    assert.equal((await upstream.nextRequest()).body.toString(), wanted);
  }
});

test('a key at its limit is refused before its body is read, at no cost', async (t) => {
  const keys = [
    { id: 'one', secret: secrets.test, limits: { concurrency: 1 } },
    { id: 'spent', secret: secrets.other, limits: { requests_per_minute: 1 } },
    { id: 'tokens', secret: secrets.third, limits: { tokens_per_minute: 10 } },
  ];
  const setup = await open(t, { keys });
  const { rig, upstream } = setup;
  // It is one of those at a time from the moment in which its body is read.
  const reading = await announce(rig, 1000, secrets.test);
  await until(() => held(setup) === 1000);
  const expecting: Header = ['Expect', '100-continue'];
  const second = await announce(rig, 1000 * KiB, secrets.test, [expecting]);
  const refused = await second.nextResponse();
  assertError(refused, 'rate_limit_exceeded', { message: /1 request at a time of the key "one"/ });
  assert.equal(refused.informational.length, 0);
  assert.equal(held(setup), 1000);
  await reading.write(question(1000));
  assert.equal((await reading.nextResponse()).status, 200);
  assert.equal((await rig.post('/v1/embeddings', question(100))).status, 200, 'and no longer when it is over');

  const asKey = (key: string, body: Buffer, more: readonly Header[] = []) =>
    send(rig.port, requestBytes(body, more, key));
  assert.equal((await asKey(secrets.other, question(100))).status, 200);
  const garbage: Header = ['Content-Encoding', 'gzip'];
  const spent = await asKey(secrets.other, Buffer.from('no gzip, and no JSON'), [garbage]);
  assertError(spent, 'rate_limit_exceeded', { message: /1 request a minute of the key "spent"/ });
  assert.equal(spent.header('x-ratelimit-remaining-requests'), '0');
  assert.equal((await asKey(secrets.third, question(64))).status, 200);
  assertError(await asKey(secrets.third, Buffer.from('{')), 'rate_limit_exceeded', { message: /10 tokens a minute/ });
  assert.equal(upstream.requests.length, 4);
  await isEmpty(setup);
});

test('a request whose limits are checked before its body counts once, not twice', async (t) => {
  const keys = [{ id: 'test', secret: testKey, limits: { requests_per_minute: 3, concurrency: 1 } }];
  const setup = await open(t, { keys });
  for (const left of ['2', '1', '0']) {
    const answer = await setup.rig.post('/v1/embeddings', question(100));
    assert.equal(answer.status, 200);
    assert.equal(answer.header('x-ratelimit-remaining-requests'), left);
  }
  assertError(await setup.rig.post('/v1/embeddings', question(100)), 'rate_limit_exceeded');
});

test('a request without body memory waits for it, and gets it in order', async (t) => {
  const setup = await open(t);
  const { rig, upstream } = setup;
  const first = await announce(rig, 1024 * KiB);
  await until(() => held(setup) === 1024 * KiB);
  const second = await announce(rig, 600 * KiB);
  const third = await announce(rig, 700 * KiB);
  await until(() => waiting(setup) === 2);
  assert.equal((await rig.post('/v1/embeddings', question(100))).status, 200, 'small ones do not wait behind them');
  const other = send(rig.port, requestBytes(question(900 * KiB), [], secrets.other));
  assert.equal((await other).status, 200, 'and neither do those of other keys');
  await first.write(question(1024 * KiB));
  assert.equal((await first.nextResponse()).status, 200);
  await until(() => held(setup) === 600 * KiB);
  assert.equal(waiting(setup), 1, 'the first of those who waited, and not the second beside it');
  await second.write(question(600 * KiB));
  assert.equal((await second.nextResponse()).status, 200);
  await third.write(question(700 * KiB));
  assert.equal((await third.nextResponse()).status, 200);
  assert.equal(upstream.requests.length, 5);
  await isEmpty(setup);
});

test('a waiting client gets no 100 Continue before there is memory', async (t) => {
  const setup = await open(t);
  const first = await announce(setup.rig, 1024 * KiB);
  await until(() => held(setup) === 1024 * KiB);
  const second = await announce(setup.rig, 600 * KiB, testKey, [['Expect', '100-continue']]);
  await until(() => waiting(setup) === 1);
  assert.equal(second.received().length, 0);
  first.destroy();
  await second.sees('100 Continue');
  second.destroy();
  await isEmpty(setup);
});

test('a request that waited too long gets an error with Retry-After', async (t) => {
  const setup = await open(t, { server: { body_wait: '30ms' } });
  const holder = await announce(setup.rig, 1024 * KiB);
  await until(() => held(setup) === 1024 * KiB);
  const answer = await setup.rig.post('/v1/embeddings', question(600 * KiB));
  assertError(answer, 'overloaded', { message: /server\.body_memory/ });
  assert.equal(answer.header('retry-after'), '1');
  assert.equal((await setup.rig.exchange()).requestBytes, 0);
  assert.equal(setup.rig.app.memory().requests.refused, 1);
  holder.destroy();
  await isEmpty(setup);
  assert.equal((await setup.rig.post('/v1/embeddings', question(600 * KiB))).status, 200);
});

test('a client that leaves while waiting leaves the queue', async (t) => {
  const setup = await open(t);
  const holder = await announce(setup.rig, 1024 * KiB);
  await until(() => held(setup) === 1024 * KiB);
  const leaving = await announce(setup.rig, 600 * KiB);
  await until(() => waiting(setup) === 1);
  leaving.reset();
  await until(() => waiting(setup) === 0);
  assert.equal((await setup.rig.exchange()).errorCode, 'client_closed');
  holder.destroy();
  await isEmpty(setup);
});

test('a body that outgrows the memory ends with 503, and its memory is released', async (t) => {
  const setup = await open(t);
  const { rig } = setup;
  const holder = await announce(rig, 700 * KiB);
  // Of those that grow one goes on beside the share of its key; it stops half way.
  const growing = await connect(rig.port);
  await growing.write(requestBytes(question(900 * KiB), [chunked]).subarray(0, 450 * KiB));
  const heldByBoth = (700 + 512) * KiB;
  await until(() => held(setup) === heldByBoth);
  for (const more of [[chunked], [['Content-Encoding', 'gzip'] as const]]) {
    const body = more[0] === chunked ? question(900 * KiB) : gzipSync(question(900 * KiB));
    const answer = await send(rig.port, requestBytes(body, more));
    assertError(answer, 'overloaded', { message: /server\.body_memory/ });
    assert.equal(answer.header('retry-after'), '1');
    await until(() => held(setup) === heldByBoth);
  }
  assert.equal(rig.app.memory().requests.outgrown, 2);
  assert.equal(setup.upstream.requests.length, 0);
  growing.destroy();
  holder.destroy();
  await isEmpty(setup);
});

test('a single body at the size limit always passes, in any form', async (t) => {
  const setup = await open(t, { server: { body_memory: '2MiB' } });
  const body = question(1024 * KiB);
  const noise = Buffer.from(JSON.stringify({ model: 'm', input: randomBytes(500_000).toString('hex') }));
  const forms: [Buffer, readonly Header[]][] = [
    [body, []],
    [body, [chunked]],
    [gzipSync(body), [['Content-Encoding', 'gzip']]],
    [brotli(noise), [['Content-Encoding', 'br']]],
    [zstdCompressSync(noise), [['Content-Encoding', 'zstd'], chunked]],
  ];
  for (const [bytes, more] of forms) {
    const answer = await send(setup.rig.port, requestBytes(bytes, more));
    assert.equal(answer.status, 200, `${more} ${answer.body}`);
    await isEmpty(setup);
  }
});

test('memory is released however a request ends', async (t) => {
  const setup = await open(t, { server: { timeouts: { request: '500ms' } } });
  const { rig, upstream } = setup;
  const refusals: Buffer[] = [
    requestBytes(Buffer.from('{"model":')),
    requestBytes(question(100, 'nobody')),
    requestBytes(Buffer.from('no gzip'), [['Content-Encoding', 'gzip']]),
    requestBytes(gzipSync(question(1500 * KiB)), [['Content-Encoding', 'gzip']]),
    requestBytes(gzipSync(question(900 * KiB)).subarray(0, 500), [['Content-Encoding', 'gzip'], chunked]),
  ];
  for (const bytes of refusals) {
    assert.ok((await send(rig.port, bytes)).status >= 400);
    await isEmpty(setup);
  }
  const late = await announce(rig, 500 * KiB);
  assertError(await late.nextResponse(), 'request_timeout');
  await isEmpty(setup);
  const malformed = await connect(rig.port);
  await malformed.write(requestBytes(question(300 * KiB), [chunked]).subarray(0, 100 * KiB));
  await until(() => held(setup) > 0);
  await malformed.write('no chunk\r\n'.repeat(30_000));
  await isEmpty(setup);

  upstream.respondWith((_request, reply) => reply.reset());
  assert.equal((await rig.post('/v1/embeddings', question(300 * KiB))).status, 502);
  await isEmpty(setup);
  upstream.respondWith((_request, reply) => reply.stall());
  const leaving = await connect(rig.port);
  await leaving.write(requestBytes(question(300 * KiB)));
  await upstream.nextRequest();
  leaving.destroy();
  await isEmpty(setup);
});

test("a long request body's memory is released when the response begins, not when it ends", async (t) => {
  const setup = await open(t);
  setup.upstream.respondWith(async (_request, reply) => {
    await reply.head(200, [['content-type', 'text/event-stream']]);
    await reply.raw('data: {}\n\n');
    await reply.stall();
  });
  const client = await connect(setup.rig.port);
  await client.write(requestBytes(question(900 * KiB)));
  await client.sees('data: {}');
  await isEmpty(setup);
  client.destroy();
});

test('chunked, compressed and slow bodies of many keys fill the memory without a deadlock', async (t) => {
  const names = Array.from({ length: 8 }, (_, no) => `key-${no}-with-enough-characters`);
  const keys = [{ id: 'test', secret: testKey }, ...names.map((secret, no) => ({ id: `k${no}`, secret }))];
  const server = { body_memory: '2MiB', body_wait: patiently(75), timeouts: { request: patiently(2_000) } };
  const setup = await open(t, { keys, server });
  const { rig } = setup;
  const packed = gzipSync(question(1000 * KiB));
  const slow = await Promise.all(names.map((key) => announce(rig, 400 * KiB, key)));
  const drips = setInterval(() => {
    for (const one of slow) void one.write('{');
  }, 20);
  t.after(async () => clearInterval(drips));
  const answers: Promise<RawResponse>[] = [];
  for (let round = 0; round < 2; round += 1) {
    for (const key of names) {
      answers.push(send(rig.port, requestBytes(question(700 * KiB), [chunked], key)));
      answers.push(send(rig.port, requestBytes(packed, [['Content-Encoding', 'gzip']], key)));
      answers.push(send(rig.port, requestBytes(packed, [['Content-Encoding', 'gzip'], chunked], key)));
      answers.push(send(rig.port, requestBytes(question(200 * KiB), [], key)));
    }
    assert.equal((await rig.post('/v1/embeddings', question(100))).status, 200, 'small ones pass meanwhile');
  }
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual(
    statuses.filter((status) => ![200, 503].includes(status)),
    [],
  );
  for (const one of slow) assert.ok([408, 503].includes((await one.nextResponse()).status));
  await isEmpty(setup);
  assert.equal((await rig.post('/v1/embeddings', question(1024 * KiB))).status, 200, 'and all of it is there again');
});
