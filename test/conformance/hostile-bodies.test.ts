/** Bodies and values that mean harm: bombs, depth, size, slowness, and text that would like to be a header. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import { request, send, toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const body = '{"model":"m","input":"x"}';
const mebibyte = 1024 * 1024;

async function open(t: TestContext, more: RigDocument = {}): Promise<{ rig: Rig; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
    ...more,
  });
  return { rig, upstream };
}

const withKey = (...more: HeaderField[]): HeaderField[] => [
  ['x-api-key', testKey],
  ['Content-Type', 'application/json'],
  ...more,
];

test('a small body that decompresses to a huge one is refused at the limit, without using memory', async (t) => {
  const { rig, upstream } = await open(t, { server: { body_limit: '1MiB' } });
  const huge = Buffer.alloc(64 * mebibyte, ' ');
  const bombs: [string, Buffer][] = [
    ['gzip', gzipSync(huge, { level: 1 })],
    ['deflate', deflateSync(huge, { level: 1 })],
    ['deflate', deflateRawSync(huge, { level: 1 })],
    ['br', brotliCompressSync(huge, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } })],
    ['zstd', zstdCompressSync(huge)],
  ];
  const before = process.memoryUsage().rss;
  for (const round of [1, 2, 3, 4]) {
    const answers = await Promise.all(
      bombs.map(([coding, bomb]) => {
        assert.ok(bomb.length < mebibyte, 'the bomb itself is small');
        return rig.post('/v1/embeddings', bomb, { headers: withKey(['Content-Encoding', coding]) });
      }),
    );
    for (const answer of answers) {
      assertError(answer, 'body_too_large', { message: /limit is 1048576 bytes .*once decoded/, of: `round ${round}` });
    }
  }
  const grownMib = (process.memoryUsage().rss - before) / mebibyte;
  assert.ok(grownMib < 128, `memory grew by ${grownMib.toFixed(0)} MiB; decoded, the bombs are 1280 MiB`);
  assert.equal(upstream.receivedBytes, 0);
});

test('compressed bodies that are truncated, damaged, doubly or unknowably encoded are refused', async (t) => {
  const { rig, upstream } = await open(t);
  const good = gzipSync(body);
  const rows: [coding: string, bytes: Buffer, code: 'invalid_json' | 'unsupported_encoding'][] = [
    ['gzip', good.subarray(0, -1), 'invalid_json'],
    ['gzip', good.subarray(0, 5), 'invalid_json'],
    ['gzip', Buffer.alloc(0), 'invalid_json'],
    ['gzip', Buffer.concat([good.subarray(0, -8), Buffer.alloc(8)]), 'invalid_json'],
    ['gzip', gzipSync(good), 'invalid_json'],
    ['gzip', brotliCompressSync(body), 'invalid_json'],
    ['br', good, 'invalid_json'],
    ['zstd', good, 'invalid_json'],
    ['deflate', good, 'invalid_json'],
    ['br', brotliCompressSync(body).subarray(0, -3), 'invalid_json'],
    ['zstd', zstdCompressSync(body).subarray(0, -3), 'invalid_json'],
    ['gzip, gzip', gzipSync(good), 'unsupported_encoding'],
    ['gzip, identity', good, 'unsupported_encoding'],
    ['gzip;q=1', good, 'unsupported_encoding'],
    ['*', good, 'unsupported_encoding'],
    ['compress', good, 'unsupported_encoding'],
    ['constructor', good, 'unsupported_encoding'],
  ];
  for (const [coding, bytes, code] of rows) {
    const answer = await rig.post('/v1/embeddings', bytes, { headers: withKey(['Content-Encoding', coding]) });
    assertError(answer, code, { of: `${coding} of ${bytes.length} bytes` });
    if (code === 'unsupported_encoding')
      assert.match(answer.header('accept-encoding') ?? '', /gzip, br, deflate, zstd/);
  }
  assert.equal(upstream.receivedBytes, 0);
});

test('a body of exactly the limit passes, one byte more is refused, announced or not', async (t) => {
  const { rig, upstream } = await open(t, { server: { body_limit: '64KiB' } });
  const sized = (bytes: number): string => body.replace('"x"', `"${'x'.repeat(bytes - body.length + 1)}"`);
  const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  const limit = 64 * 1024;
  assert.equal(sized(limit).length, limit);
  const inChunks = withKey(['Transfer-Encoding', 'chunked']);
  assert.equal((await rig.post('/v1/embeddings', sized(limit))).status, 200);
  assert.equal((await rig.post('/v1/embeddings', chunked(sized(limit)), { headers: inChunks })).status, 200);
  assert.equal(upstream.requests.length, 2);
  const zipped = { headers: withKey(['Content-Encoding', 'gzip']) };
  assert.equal((await rig.post('/v1/embeddings', gzipSync(sized(limit)), zipped)).status, 200);
  assertError(await rig.post('/v1/embeddings', sized(limit + 1)), 'body_too_large');
  assertError(await rig.post('/v1/embeddings', chunked(sized(limit + 1)), { headers: inChunks }), 'body_too_large');
  assertError(await rig.post('/v1/embeddings', gzipSync(sized(limit + 1)), zipped), 'body_too_large');
  assert.equal(upstream.requests.length, 3);
});

test('a client refused early can read the error while still sending, and reuse the connection', async (t) => {
  const { rig, upstream } = await open(t, { server: { body_limit: '1MiB' } });
  const long = Buffer.alloc(20 * mebibyte, ' ');
  for (const [headers, code] of [
    [withKey(), 'body_too_large'],
    [[['x-api-key', 'not-a-key-of-anybody-at-all']], 'invalid_api_key'],
    [
      [
        ['x-api-key', testKey],
        ['Content-Type', 'text/plain'],
      ],
      'unsupported_media_type',
    ],
  ] as const) {
    const connection = await connect(rig.port);
    const sent = connection.write(toRequestBytes({ path: '/v1/embeddings', headers, body: long }));
    assertError(await connection.nextResponse(), code);
    await sent;
    await connection.write(toRequestBytes({ path: '/healthz' }));
    assert.equal((await connection.nextResponse()).status, 200);
    connection.destroy();
  }
  assert.equal(upstream.receivedBytes, 0);
});

test('a client that never stops sending a refused body is disconnected', async (t) => {
  const { rig } = await open(t, { server: { body_limit: '1MiB' } });
  const connection = await connect(rig.port);
  await connection.write(
    `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${testKey}\r\nContent-Length: 999999999\r\n\r\n`,
  );
  assertError(await connection.nextResponse(), 'body_too_large');
  const piece = Buffer.alloc(4 * mebibyte, ' ');
  for (let sent = 0; sent < 80; sent += 4) await connection.write(piece);
  assert.notEqual(await connection.closed(), 'open');
});

test('5 MB of brackets, a million keys and a million duplicate keys are handled like any body', async (t) => {
  const { rig, upstream } = await open(t);
  assertError(await rig.post('/v1/embeddings', '['.repeat(5_000_000)), 'body_too_deep');
  assertError(await rig.post('/v1/embeddings', `{"model":"m","input":${'['.repeat(5_000_000)}`), 'body_too_deep');
  assertError(await rig.post('/v1/embeddings', '{"a":'.repeat(1_000_000)), 'body_too_deep');
  assertError(await rig.post('/v1/embeddings', `"${'\\'.repeat(5_000_001)}"`), 'invalid_json');
  assertError(
    await rig.post('/v1/embeddings', `${body.slice(0, -1)}${',"model":0'.repeat(100_000)}}`),
    'duplicate_parameter',
    {
      param: 'model',
    },
  );
  assert.equal(upstream.receivedBytes, 0);

  const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index % 1000}":${index}`);
  const many = `{"model":"m",${keys.join(',')},"input":"x"}`;
  assert.equal((await rig.post('/v1/embeddings', many)).status, 200);
  assert.ok((await upstream.nextRequest()).body.equals(Buffer.from(many)));
});

test('while a 32 MiB body is read, other requests are answered', async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({
    config: {
      upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
      models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up', model: 'another-name' }] }],
    },
  });
  t.after(() => gateway.stop());
  const text = `{"model":"m","input":[${'"ä short text",'.repeat(2_090_000)}"end"]}`;
  const big = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', gateway.key]], body: text });
  assert.ok(big.length > 31 * mebibyte && big.length < 32 * mebibyte, `${big.length}`);

  const sender = await connect(gateway.port, { timeoutMs: 30_000 });
  const prober = await connect(gateway.port);
  const probe = toRequestBytes({ path: '/healthz' });
  let sent = false;
  let answered = false;
  let whileJudged = 0;
  let slowestMs = 0;
  const sending = sender.write(big).then(() => {
    sent = true;
  });
  const answer = sender.nextResponse().then((response) => {
    answered = true;
    return response;
  });
  while (!answered) {
    const from = performance.now();
    await prober.write(probe);
    assert.equal((await prober.nextResponse()).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - from);
    if (sent && !answered) whileJudged += 1;
  }
  await sending;
  assert.equal((await answer).status, 200);
  assert.equal(
    (await upstream.nextRequest()).body.length,
    Buffer.byteLength(text) + 'another-name'.length - 'm'.length,
  );
  t.diagnostic(`${whileJudged} health checks answered meanwhile, the slowest in ${slowestMs.toFixed(0)} ms`);
  assert.ok(whileJudged >= 5, `${whileJudged} health checks were answered`);
  sender.destroy();
  prober.destroy();
});

test('a client that sends too slowly gets 408 or is disconnected, without an upstream call', async (t) => {
  const { rig, upstream } = await open(t, {
    server: { timeouts: { headers: patiently(50), request: patiently(100) } },
  });
  const whole = toRequestBytes({ path: '/v1/embeddings', headers: withKey(), body });
  const bodyAt = whole.indexOf('\r\n\r\n') + 4;

  /** Byte by byte from `start`, until the gateway has had enough. */
  async function trickle(start: number): Promise<void> {
    const connection = await connect(rig.port, { timeoutMs: patientMs(2_000) });
    const answer = connection.nextResponse();
    let over = false;
    void answer.then(() => {
      over = true;
    });
    await connection.write(whole.subarray(0, start));
    for (let at = start; at < whole.length - 1 && !over; at += 1) {
      await connection.write(whole.subarray(at, at + 1));
      await new Promise((resolve) => setTimeout(resolve, patientMs(start < bodyAt ? 15 : 75)));
    }
    const response = await answer;
    if (response.status !== 0) assertError(response, 'request_timeout', { of: `from byte ${start}` });
    assert.notEqual(await connection.closed(), 'open', `from byte ${start}`);
    connection.destroy();
  }

  await Promise.all([trickle(0), trickle(5), trickle(bodyAt - 1), trickle(bodyAt), trickle(bodyAt + 10)]);
  assert.equal(upstream.receivedBytes, 0);
  // A client that connects and sends nothing is closed too.
  const silent = await connect(rig.port, { timeoutMs: patientMs(2_000) });
  assert.notEqual(await silent.closed(), 'open');
  assert.equal((await rig.post('/v1/embeddings', body)).status, 200);
});

const evil = [
  'a\r\nX-Injected: 1',
  'a\nX-Injected: 1',
  'a\rX-Injected: 1',
  'a\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nX-Injected: 1',
  'a\0X-Injected: 1',
  'a%0d%0aX-Injected:%201',
  'a\\r\\nX-Injected: 1',
  '\x85X-Injected: 1',
  '\xe5\x98\x8d\xe5\x98\x8aX-Injected: 1',
  '\u010d\u010aX-Injected: 1',
  'a\x0b\x0cX-Injected: 1',
  'a\x7fX-Injected: 1',
  '\xff\xfe\x80',
  '=?utf-8?q?a?=',
];

test('no forwarded value can inject a header upstream', async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [
      {
        id: 'up',
        family: 'openai',
        base_url: upstream.url,
        api_key: 'sk-upstream-key',
        forward_headers: ['X-Mine'],
        legacy_engines: 'native',
      },
    ],
    models: [{ id: '*', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
  });
  const names = [
    'Content-Type',
    'Accept',
    'Accept-Encoding',
    'traceparent',
    'tracestate',
    'Idempotency-Key',
    'OpenAI-Beta',
    'X-Mine',
    'X-Request-Id',
    'User-Agent',
  ];
  let refused = 0;
  for (const name of names) {
    for (const value of evil) {
      const headers: HeaderField[] = [
        ['x-api-key', testKey],
        [name, name === 'Content-Type' ? `application/json; x=${value}` : value],
      ];
      // As UTF-8 where it is more than Latin-1.
      const asked = toRequestBytes({
        path: '/v1/embeddings',
        headers: headers.map(([field, text]) => [field, Buffer.from(text).toString('latin1')]),
        body,
      });
      const answer = await send(rig.port, asked);
      assert.ok(answer.status === 200 || answer.status === 400 || answer.status === 404, `${name} ${answer.status}`);
      if (answer.status !== 200) refused += 1;
    }
  }
  assert.ok(refused > names.length, `${refused} were refused`);
  for (const value of evil) {
    await rig.post('/v1/embeddings', JSON.stringify({ model: value, input: value, 'X-Injected': value }));
    await rig.post(`/v1/engines/${encodeURIComponent(value)}/embeddings`, '{"input":"x"}');
    await rig.post(`/v1/engines/${encodeURIComponent(encodeURIComponent(value))}/embeddings`, '{"input":"x"}');
  }
  assert.ok(upstream.requests.length > names.length);
  assert.deepEqual(upstream.malformed, []);
  const known = new Set([
    ...names.map((name) => name.toLowerCase()),
    'host',
    'connection',
    'authorization',
    'content-length',
    'x-postern-loop',
  ]);
  for (const { headers, path, rawHead, method } of upstream.requests) {
    for (const [name] of headers) assert.ok(known.has(name.toLowerCase()), `${name} came upstream`);
    assert.equal(method, 'POST');
    assert.match(path, /^\/(embeddings|engines\/[A-Za-z0-9%._~!'()*-]+\/embeddings)$/);
    assert.equal(rawHead.toString('latin1').match(/\r\nx-injected/gi), null);
    assert.doesNotMatch(rawHead.toString('latin1').replaceAll('\r\n', ''), /[\0-\x08\x0a-\x1f\x7f]/);
  }
});

test('no returned value can inject a response header', async (t) => {
  const { rig } = await open(t, {
    models: [{ id: '*', operations: ['embeddings'], space: 'sp äce 模型', targets: [{ upstream: 'up' }] }],
  });
  for (const value of evil) {
    for (const answer of [
      await request({
        port: rig.port,
        path: '/nowhere',
        headers: [['X-Request-Id', Buffer.from(value).toString('latin1')]],
      }),
      await rig.post('/v1/embeddings', JSON.stringify({ model: value, input: 'x' })),
      await rig.post('/v1/completions', JSON.stringify({ model: value, prompt: 'x' })),
      await rig.get(`/v1/models/${encodeURIComponent(value)}`),
    ]) {
      assert.ok(answer.status >= 200 && answer.status < 500, `${answer.status}`);
      assert.equal(answer.header('x-injected'), undefined);
      assert.equal(
        answer.rawBytes
          .toString('latin1')
          .split('\r\n\r\n')[0]
          ?.match(/[\0-\x09\x0b\x0c\x0e-\x1f\x7f]/),
        null,
      );
    }
  }
});
