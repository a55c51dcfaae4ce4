/** Requests whose framing is broken or could be read in two ways: refused, and never passed on. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { noCaps } from '../../src/core/caps.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type MalformedRequest, malformedRequests } from '../support/clients/malformed-requests.ts';
import { send, sendPipelined, toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const body = '{"model":"m","input":"x"}';

async function open(t: TestContext, more: RigDocument = {}): Promise<{ rig: Rig; upstream: FakeUpstream }> {
  const upstream = await startFakeUpstream((request, reply) => reply.bytes(200, [], request.body));
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
    ...more,
  });
  return { rig, upstream };
}

/** A few are no oddities of framing, and are refused for other faults. */
const otherStatuses = new Set([401, 404, 405, 413, 431]);

/** Undefined if the only answer reports the fault, in the format of every error. */
async function faultOf(
  port: number,
  { bytes, cut }: MalformedRequest,
  parts: readonly Buffer[],
): Promise<string | undefined> {
  const connection = await connect(port, { timeoutMs: 15_000 });
  try {
    for (const part of parts) {
      await connection.write(part);
      await setImmediate();
    }
    if (cut) connection.finish();
    const answer = await connection.nextResponse();
    const statuses =
      connection
        .received()
        .toString('latin1')
        .match(/HTTP\/1\.1 \d{3} /g) ?? [];
    if (statuses.length > 1) return `several answers: ${statuses.join(', ')}`;
    if (answer.status === 0) return `no answer (${answer.closed}) to ${bytes.length} bytes`;
    if (answer.status !== 400) return otherStatuses.has(answer.status) ? undefined : `status ${answer.status}`;
    assertError(answer, 'malformed_request');
    return undefined;
  } finally {
    connection.destroy();
  }
}

/** Whole, and with the body behind the head in a write of its own. */
function mappings({ bytes }: MalformedRequest): Buffer[][] {
  const headEnd = bytes.indexOf('\r\n\r\n') + 4;
  return headEnd < 4 || headEnd === bytes.length
    ? [[bytes]]
    : [[bytes], [bytes.subarray(0, headEnd), bytes.subarray(headEnd)]];
}

test(`each of ${malformedRequests.length} malformed requests gets a response, no byte reaches the upstream, and service continues`, async (t) => {
  const { rig, upstream } = await open(t);
  assert.ok(malformedRequests.length > 200);
  assert.equal(new Set(malformedRequests.map(({ name }) => name)).size, malformedRequests.length);

  const faults: string[] = [];
  const rows = malformedRequests.flatMap((row) => mappings(row).map((parts) => ({ row, parts })));
  const worker = async (): Promise<void> => {
    for (let next = rows.shift(); next !== undefined; next = rows.shift()) {
      const fault = await faultOf(rig.port, next.row, next.parts);
      if (fault !== undefined) faults.push(`${next.row.name}, in ${next.parts.length}: ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  assert.deepEqual(faults, []);
  assert.equal(upstream.receivedBytes, 0);
  assert.equal(upstream.connections().accepted, 0);
  assert.equal((await rig.post('/v1/embeddings', body)).status, 200);
});

test('a malformed request after a good one is refused once the good one is answered', async (t) => {
  const { rig, upstream } = await open(t);
  const good = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', testKey]], body });
  const rows = malformedRequests.filter(({ name, cut }) => !cut && /^Transfer-Encoding|^the field/.test(name));
  for (const { name, bytes } of rows) {
    const seen = upstream.requests.length;
    const connection = await connect(rig.port, { timeoutMs: 15_000 });
    await connection.write(Buffer.concat([good, bytes]));
    assert.equal((await connection.nextResponse()).status, 200, name);
    assertError(await connection.nextResponse(), 'malformed_request', { of: name });
    assert.notEqual(await connection.closed(), 'open', name);
    assert.equal(upstream.requests.length, seen + 1);
  }
});

test('invalid HTTP is refused in the usual error shape, and the connection closed', async (t) => {
  const { rig } = await open(t);
  const head = `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${testKey}\r\n`;
  for (const bytes of [
    'nonsense\r\n\r\n',
    'GET http://127.0.0.1/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET /healthz HTTP/1.1\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: a/b\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Content-Length\r\n\r\n',
    `${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `${head}Expect: 200-ok\r\nContent-Length: 0\r\n\r\n`,
    `${head}X Y: 1\r\n\r\n`,
    `${head}Content-Length: 25\r\nContent-Length: 24\r\n\r\n${body}`,
    `${head}Content-Length: 25\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${head}X: a\r\n b\r\n\r\n`,
    `${head}X: a\0b\r\n\r\n`,
  ]) {
    const answer = await send(rig.port, bytes, { until: 'close' });
    assertError(answer, 'malformed_request', { of: bytes });
    assert.equal(answer.header('connection'), 'close');
    assert.equal(answer.closed, 'fin');
  }
});

test('an invalid chunk is refused, whether it came with the head or later', async (t) => {
  const { rig, upstream } = await open(t);
  const head = `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${testKey}\r\nX-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\n`;
  for (const [first, rest] of [
    [head, 'nonsense\r\n'],
    [`${head}5\r\n{"mod\r\n`, 'nonsense\r\n'],
    [`${head}5\r\n{"mod`, 'nonsense\r\n'],
    [`${head}nonsense\r\n`, ''],
    [`${head}19\r\n${body}\r\n`, '0x0\r\n\r\n'],
  ] as const) {
    const answer = await send(rig.port, [first, { bytes: rest, afterMs: rest === '' ? 0 : 30 }], { until: 'close' });
    assertError(answer, 'malformed_request', { of: JSON.stringify(first + rest) });
    assert.equal(answer.header('x-request-id'), 'mine');
    assert.equal(answer.closed, 'fin');
  }
  assert.equal(upstream.receivedBytes, 0);
  for (const { errorCode, status } of rig.settled) assert.deepEqual([errorCode, status], ['malformed_request', 400]);
});

test('a request refused early gets one response, whatever the rest of its body', async (t) => {
  const { rig, upstream } = await open(t);
  const connection = await connect(rig.port);
  await connection.write('POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc');
  assertError(await connection.nextResponse(), 'missing_api_key');
  await connection.write('de\r\nnonsense\r\n');
  assert.notEqual(await connection.closed(), 'open');
  assert.equal(
    connection
      .received()
      .toString()
      .match(/HTTP\/1\.1 \d{3} /g)?.length,
    1,
  );
  assert.equal(upstream.receivedBytes, 0);
});

test('unusual but unambiguous requests are served with new framing', async (t) => {
  const { rig, upstream } = await open(t);
  const key = `x-api-key: ${testKey}`;
  const sized = (lines: readonly string[], first = 'POST /v1/embeddings HTTP/1.1'): string =>
    `${[first, ...lines, key, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`;
  const chunked = (chunks: string, lines: readonly string[] = ['Transfer-Encoding: chunked']): string =>
    `${['POST /v1/embeddings HTTP/1.1', 'Host: x', key, ...lines].join('\r\n')}\r\n\r\n${chunks}`;
  for (const bytes of [
    sized(['HOST:x']),
    sized(['host:\t x \t ']),
    sized(['Host: [::1]:8080']),
    sized(['Host: a_b.example-1:65535']),
    sized(['Host: x', 'X-Empty:', 'X-Latin: \xe4\xff', 'x-tab: a\tb', "!#$%&'*+-.^_`|~: token"]),
    sized(['Host: x', 'Connection: close']),
    sized(['Host: x', 'Connection: Keep-Alive, x-mine', 'X-Mine: 1']),
    sized(['Host: x', 'Connection: upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
    sized([
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: x',
      'Sec-WebSocket-Version: 13',
    ]),
    sized(['Host: x', 'TE: trailers', 'Accept: a', 'Accept: b']),
    sized(['Host: x'], `POST /v1/embeddings?${'x'.repeat(20_000)} HTTP/1.1`),
    sized(['Host: x'], 'POST /v1/embeddings?a=b&c[]={}|\'"<>^`#x HTTP/1.1'),
    sized([], 'POST /v1/embeddings HTTP/1.0'),
    sized(['Host: x', 'Connection: keep-alive'], 'POST /v1/embeddings HTTP/1.0'),
    `\r\n\r\n${sized(['Host: x'])}`,
    chunked(`19\r\n${body}\r\n0\r\n\r\n`),
    chunked(`19\r\n${body}\r\n0\r\n\r\n`, ['transfer-encoding: \t CHUNKED']),
    chunked(`0019\r\n${body}\r\n000\r\n\r\n`),
    chunked(`19;a=b;c="d"\r\n${body}\r\n0;last\r\n\r\n`),
    chunked(`19\r\n${body}\r\n0\r\nX-Sum: 1\r\nHost: evil\r\n\r\n`),
    chunked(`${[...body].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
  ]) {
    const answer = await send(rig.port, Buffer.from(bytes, 'latin1'));
    assert.equal(answer.status, 200, `${JSON.stringify(bytes)} ${answer.body}`);
    const sent = await upstream.nextRequest();
    assert.equal(sent.body.toString(), body);
    const names = sent.headers.map(([name]) => name.toLowerCase());
    assert.equal(new Set(names).size, names.length, 'no header stands twice');
    for (const name of [
      'transfer-encoding',
      'upgrade',
      'te',
      'trailer',
      'x-mine',
      'x-sum',
      'expect',
      'http2-settings',
    ]) {
      assert.ok(!names.includes(name), name);
    }
    assert.equal(sent.header('connection'), 'keep-alive');
    assert.equal(sent.header('content-length'), String(body.length));
  }
  assert.deepEqual(upstream.malformed, []);
});

test('pipelined requests are answered in order, each with its own body', async (t) => {
  const { rig, upstream } = await open(t);
  // The first is the slowest.
  let seen = 0;
  upstream.respondWith(async (request, reply) => {
    seen += 1;
    await reply.sleep(Math.max(0, 60 - seen * 10));
    await reply.bytes(200, [], request.body);
  });
  const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
  const asked = texts.map((text, index) =>
    toRequestBytes({
      path: '/v1/embeddings',
      headers: [
        ['x-api-key', testKey],
        ['X-Request-Id', text],
      ],
      // The third is refused, between two that are not.
      body: index === 2 ? '{' : { model: 'm', input: text },
    }),
  );
  const answers = await sendPipelined(rig.port, asked);
  assert.deepEqual(
    answers.map((answer) => [answer.status, answer.header('x-request-id')]),
    texts.map((text, index) => [index === 2 ? 400 : 200, text]),
  );
  for (const [index, answer] of answers.entries()) {
    if (index !== 2) assert.deepEqual(answer.json(), { model: 'm', input: texts[index] });
  }
});

test('bytes after a body are parsed as a separate request', async (t) => {
  const { rig, upstream } = await open(t);
  const head = (length: number, key = testKey): string =>
    `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Length: ${length}\r\n\r\n`;
  const smuggled = `${head(body.length, 'not-a-key-of-anybody-at-all')}${body}`;

  const [first, second] = await sendPipelined(rig.port, [head(body.length) + body, smuggled]);
  assert.equal(first?.status, 200);
  assert.ok(second !== undefined);
  assertError(second, 'invalid_api_key');
  assert.equal(upstream.requests.length, 1);

  // A body that is longer than announced: what is left over is no request, and the connection ends with that.
  for (const afterMs of [0, 50]) {
    const left = await send(rig.port, [head(body.length) + body, { bytes: 'leftover\r\n\r\n', afterMs }], {
      until: 'close',
    });
    assert.ok([0, 200, 400].includes(left.status), `${left.status}`);
    assert.equal(left.closed, 'fin');
  }

  // And one that is shorter takes its due from what follows, which is then no request any more.
  const short = await send(rig.port, head(body.length + smuggled.length) + body + smuggled);
  assertError(short, 'invalid_json');
  assert.ok(upstream.requests.every((request) => request.body.toString() === body));
  assert.deepEqual(upstream.malformed, []);
});

test('the rest of a refused body is not parsed as a request', async (t) => {
  const { rig, upstream } = await open(t, { server: { body_limit: '1KiB' } });
  const inner = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', testKey]], body });
  const padding = ' '.repeat(2000);
  for (const [headers, code] of [
    [[['x-api-key', testKey]], 'body_too_large'],
    [[['x-api-key', 'not-a-key-of-anybody-at-all']], 'invalid_api_key'],
    [[], 'missing_api_key'],
  ] as const) {
    const outer = toRequestBytes({
      path: '/v1/embeddings',
      headers,
      body: Buffer.concat([Buffer.from(padding), inner]),
    });
    const connection = await connect(rig.port);
    await connection.write(outer);
    assertError(await connection.nextResponse(), code);
    // The connection is at the beginning of the next request, not in the middle of the last one.
    await connection.write(toRequestBytes({ path: '/healthz' }));
    assert.deepEqual((await connection.nextResponse()).json(), { status: 'ok' });
    connection.destroy();
  }
  assert.equal(upstream.receivedBytes, 0);
});

test('a client that disconnects ends its running pipelined request, and no other begins', async (t) => {
  const { rig, upstream } = await open(t);
  upstream.respondWith((_request, reply) => reply.stall());
  const whole = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', testKey]], body });
  const connection = await connect(rig.port);
  await connection.write(Buffer.concat([whole, whole, whole.subarray(0, -5)]));
  await upstream.nextRequest();
  connection.reset();
  assert.equal((await rig.exchange(1)).errorCode, 'client_closed');
  assert.equal(upstream.requests.length, 1);
});

const refusedHeads: Readonly<Record<string, string>> = {
  'two hosts': 'Host: y\r\n',
  'a length with a zero before it': 'Content-Length: 00\r\n',
  'two codings': 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n',
  'a framing header named by Connection': 'Connection: content-length\r\n',
  'an expectation of something else': 'Expect: x\r\n',
};

for (const [what, line] of Object.entries(refusedHeads)) {
  test(`a request pipelined behind one refused for ${what} is never executed`, async (t) => {
    const { rig, upstream } = await open(t);
    const whole = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', testKey]], body });
    // With connections that are open already, nothing would hold it up.
    assert.equal((await send(rig.port, whole)).status, 200);
    const refused = Buffer.from(`GET /v1/models HTTP/1.1\r\nHost: x\r\nx-api-key: ${testKey}\r\n${line}\r\n`);
    for (let i = 0; i < 20; i += 1) {
      const answer = await send(rig.port, Buffer.concat([refused, whole, whole]), { until: 'close' });
      assert.equal(answer.status >= 400 && answer.status < 500, true, answer.statusLine);
      assert.notEqual(answer.closed, 'open');
    }
    assert.equal(upstream.requests.length, 1);
  });
}

test('after an Upgrade offer the connection is closed, and nothing after it is parsed', async (t) => {
  const { rig, upstream } = await open(t);
  const offer: readonly (readonly [string, string])[] = [
    ['x-api-key', testKey],
    ['Connection', 'Upgrade, HTTP2-Settings'],
    ['Upgrade', 'h2c'],
    ['HTTP2-Settings', 'AAMAAABkAARAAAAAAAIAAAAA'],
  ];
  const offering = toRequestBytes({ path: '/v1/embeddings', headers: offer, body });
  const inner = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', testKey]], body });
  const outer = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', testKey]], body: inner });
  const headBytes = outer.length - inner.length;
  const answer = await send(
    rig.port,
    [Buffer.concat([offering, outer.subarray(0, headBytes)]), { bytes: outer.subarray(headBytes), afterMs: 50 }],
    { until: 'close' },
  );
  assert.equal(answer.status, 200, 'who offers another protocol is served in this one');
  assert.equal(answer.header('connection'), 'close');
  assert.notEqual(answer.closed, 'open');
  assert.equal(upstream.requests.length, 1);
});

test('a client that disconnects during key look-up is dropped at once', async (t) => {
  const { rig, upstream } = await open(t);
  let answer: (record: unknown) => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    const find = (): Promise<unknown> => {
      resolve();
      return new Promise((settle) => {
        answer = settle;
      });
    };
    Object.assign(rig.store.keys, { find });
  });
  const connection = await connect(rig.port);
  const whole = toRequestBytes({ path: '/v1/embeddings', headers: [['x-api-key', 'a-key-of-the-store-000000']], body });
  await connection.write(whole.subarray(0, -5));
  await asked;
  connection.reset();
  // The gateway notices on the next turn of its own; a health check behind it comes later still.
  assert.equal((await rig.get('/healthz')).status, 200);
  answer({ id: 'k', models: ['*'], caps: noCaps });
  assert.equal((await rig.exchange()).errorCode, 'client_closed');
  assert.equal(upstream.receivedBytes, 0);
});

test('100 Continue is sent after all earlier checks, and only to clients that expect it', async (t) => {
  const { rig, upstream } = await open(t);
  const head = (lines: readonly string[], version = '1.1'): string =>
    `${[`POST /v1/embeddings HTTP/${version}`, 'Host: x', 'Expect: 100-Continue', `Content-Length: ${body.length}`, ...lines].join('\r\n')}\r\n\r\n`;
  const key = `x-api-key: ${testKey}`;

  const connection = await connect(rig.port);
  for (const _ of [1, 2]) {
    await connection.write(head([key]));
    await connection.sees('HTTP/1.1 100 Continue\r\n\r\n');
    await connection.write(body);
    const answer = await connection.nextResponse();
    assert.equal(answer.status, 200);
    assert.deepEqual(
      answer.informational.map(({ status }) => status),
      [100],
    );
  }
  connection.destroy();
  assert.equal(upstream.requests.length, 2);
  assert.equal(upstream.requests[0]?.header('expect'), undefined);

  for (const [lines, code] of [
    [[], 'missing_api_key'],
    [['x-api-key: not-a-key-of-anybody-at-all'], 'invalid_api_key'],
    [[key, 'Content-Type: text/plain'], 'unsupported_media_type'],
    [[key, 'Content-Encoding: rot13'], 'unsupported_encoding'],
  ] as const) {
    const answer = await send(rig.port, head(lines));
    assertError(answer, code);
    assert.deepEqual(answer.informational, []);
  }
  const huge = await send(rig.port, head([key]).replace(/Length: \d+/, 'Length: 99999999'));
  assertError(huge, 'body_too_large');
  assert.deepEqual(huge.informational, [], 'a body that will be refused is not asked for');

  // HTTP/1.0 knows no interim answers.
  const old = await send(rig.port, head([key], '1.0') + body);
  assert.equal(old.status, 200);
  assert.deepEqual(old.informational, []);
});
