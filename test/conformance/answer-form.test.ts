/** A good answer to an operation of JSON has to begin as JSON does; what begins otherwise is a failure of its target. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import { type HeaderField, toChunk } from '../support/clients/http-message.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { ask, authorized, newestExchange, questionBytes, startPair, toDocument } from '../support/gateways/pair.ts';
import { startRig } from '../support/gateways/rig.ts';
import { type Handler, type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const json: HeaderField = ['Content-Type', 'application/json'];
const encoded = (name: string): HeaderField => ['Content-Encoding', name];
const page = '<html>oops</html>';

const bodies: Readonly<Record<string, string>> = {
  '/v1/embeddings': '"input":"x"',
  '/v1/rerank': '"query":"q","documents":["d"]',
  '/v1/moderations': '"input":"x"',
  '/v1/completions': '"prompt":"p"',
  '/v1/edits': '"input":"x","instruction":"do"',
  '/v1/chat/completions': '"messages":[{"role":"user","content":"c"}]',
  '/v1/responses': '"input":"x"',
  '/v1/images/generations': '"prompt":"p"',
};

const good: Readonly<Record<string, string>> = {
  '/v1/embeddings': '{"data":[{"index":0,"embedding":[1]}]}',
  '/v1/rerank': '{"results":[{"index":0,"relevance_score":1}]}',
  '/v1/moderations': '{"results":[{"flagged":false}]}',
};

/** Two upstreams, the first asked before the second. */
async function startTwo(t: Parameters<typeof startPair>[0], first: Script, second: Script, model = {}) {
  const one = await startFakeUpstream(first);
  t.after(() => one.close());
  const two = await startFakeUpstream(second);
  t.after(() => two.close());
  const upstreams = [
    { id: 'one', family: 'openai', base_url: one.url, api_key: 'sk-one' },
    { id: 'two', family: 'openai', base_url: two.url, api_key: 'sk-two' },
  ];
  const targets = [
    { upstream: 'one', priority: 0 },
    { upstream: 'two', priority: 1 },
  ];
  const rig = await startRig(t, { upstreams, models: [{ id: 'm', space: 's', targets, ...model }] });
  return { rig, one, two };
}

const noJson: readonly (readonly [what: string, headers: readonly HeaderField[], body: Buffer | string])[] = [
  ['a page that says so', [['Content-Type', 'text/html']], page],
  ['a page that says it is JSON', [json], page],
  ['a page without a type', [], page],
  ['a text', [json], 'oops'],
  ['a text that begins as a word of JSON', [json], 'too many'],
  ['a page behind a mark and white space', [json], `\ufeff \r\n\t${page}`],
  ['nothing', [json], ''],
  ['white space alone', [json], ' \n '],
  ['a page in gzip', [json, encoded('gzip')], gzipSync(page)],
  ['a page in deflate', [json, encoded('deflate')], deflateSync(page)],
  ['a page in bare deflate', [json, encoded('deflate')], deflateRawSync(page)],
  ['a page in br', [json, encoded('br')], brotliCompressSync(page)],
  ['a page in zstd', [json, encoded('zstd')], zstdCompressSync(page)],
  ['a page in two codings', [json, encoded('gzip, br')], brotliCompressSync(gzipSync(page))],
  ['events that nobody asked for', [json], 'data: {}\n\n'],
];

test('a 200 that is no JSON is a clear error, received at once or byte by byte', async (t) => {
  const pair = await startPair(t);
  for (const [what, headers, body] of noJson) {
    for (const pieces of [body, [...Buffer.from(body)].map((byte) => Buffer.from([byte]))]) {
      pair.upstream.respondWith((_request, reply) => reply.bytes(200, headers, pieces));
      const answer = await ask(pair);
      assertError(answer, 'upstream_protocol_error', {
        of: what,
        message: /does not fit the request \((its body|a page)/,
      });
      assert.equal((await newestExchange(pair)).bill, null, what);
    }
  }
  assert.equal(pair.upstream.requests.length, 2 * noJson.length);
  assert.equal(pair.upstream.connections().accepted, 1, 'a short one costs no connection');
});

test('a 200 without JSON moves to the next target if replayable, and counts as a failure', async (t) => {
  const { rig, one, two } = await startTwo(
    t,
    (_request, reply) => reply.bytes(200, [json], page),
    (request, reply) => reply.bytes(200, [json], good[`/v1${request.path}`] ?? '{}'),
  );
  for (const path of [...Object.keys(good), ...Object.keys(good), ...Object.keys(good)]) {
    const answer = await rig.post(path, `{"model":"m",${bodies[path]}}`);
    assert.equal(answer.status, 200, path);
    assert.equal(answer.body.toString(), good[path], path);
    assert.equal(answer.header('x-postern-upstream'), 'two');
  }
  assert.equal(two.requests.length, 9);
  assert.ok(one.requests.length < 9, 'it enters cooldown');
  const [first] = rig.settled;
  assert.deepEqual(
    first?.tries.map(({ upstream, outcome, detail }) => [upstream, outcome, detail]),
    [
      ['one', 'unknown', 'a page came instead of JSON'],
      ['two', 'answered', 200],
    ],
  );
});

test('a 200 without JSON ends in 502 if it may not be repeated', async (t) => {
  for (const retry of [undefined, 'always']) {
    const fails: Handler = (_request, reply) => reply.bytes(200, [['Content-Type', 'text/html']], page);
    const { rig, two } = await startTwo(t, fails, (_request, reply) => reply.json(200, { fine: true }), {
      ...(retry !== undefined && { retry }),
    });
    for (const path of Object.keys(bodies).filter((one) => good[one] === undefined)) {
      const before = two.requests.length;
      const answer = await rig.post(path, `{"model":"m",${bodies[path]},"user":"${path}"}`);
      if (answer.status === 200) {
        assert.equal(two.requests.length, before + 1);
        continue;
      }
      assert.equal(retry, undefined, path);
      assertError(answer, 'upstream_protocol_error', { message: /a page came instead of JSON/ });
      assert.equal(two.requests.length, before, path);
    }
    if (retry === undefined) assert.ok(rig.settled.some(({ status }) => status === 502));
  }
});

test('a response that begins as JSON passes byte for byte, whatever its type', async (t) => {
  const pair = await startPair(t);
  const plain = '{"data":[{"index":0,"embedding":[0.10,1e3]}]}';
  const cases: readonly (readonly [headers: readonly HeaderField[], body: Buffer | string])[] = [
    [[], plain],
    [[['Content-Type', 'text/html']], plain],
    [[['Content-Type', 'text/plain']], `\ufeff\r\n ${plain}\n`],
    [[json], ' '.repeat(500) + plain],
    [[json], ' '.repeat(5_000) + plain],
    [[json], ' '.repeat(5_000) + page],
    [[json], '[1]'],
    [[json], '"text"'],
    [[json], 'null'],
    [[json], '-1'],
    [[json, encoded('gzip')], gzipSync(plain)],
    [[json, encoded('br')], brotliCompressSync(plain)],
    [[json, encoded('zstd')], zstdCompressSync(plain)],
    [[json, encoded('deflate')], deflateRawSync(plain)],
    [[json, encoded('unknown')], Buffer.from([1, 2, 3])],
    [[json, encoded('gzip')], 'no gzip'],
  ];
  for (const [headers, body] of cases) {
    for (const pieces of [[body], [...Buffer.from(body)].map((byte) => Buffer.from([byte]))]) {
      if (pieces.length > 2_000) continue;
      pair.upstream.respondWith((_request, reply) => reply.bytes(200, headers, pieces, { chunked: true }));
      const answer = await ask(pair);
      assert.equal(answer.status, 200, String(body).slice(0, 20));
      assert.ok(answer.body.equals(Buffer.from(body)), String(body).slice(0, 20));
      assert.equal(answer.complete, true);
      for (const [name, value] of headers) assert.equal(answer.header(name), value);
    }
  }
});

test('a response is held back until its first byte after white space, and no longer', async (t) => {
  let goOn = (): void => {};
  const seen = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const pair = await startPair(t, async (_request, reply) => {
    await reply.raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (const piece of ['\ufeff', '\n', ' {']) await reply.raw(toChunk(Buffer.from(piece)));
    await seen;
    await reply.chunk('}');
    await reply.lastChunk();
  });
  const connection = await connect(pair.rig.port);
  t.after(() => connection.destroy());
  await connection.write(questionBytes());
  await connection.sees(' {');
  goOn();
  assert.equal((await connection.nextResponse()).body.toString(), '\ufeff\n {}');
});

test('white space sent as keep-alive reaches the client at once', async (t) => {
  let goOn = (): void => {};
  const seen = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const pair = await startPair(t, async (_request, reply) => {
    await reply.head(200, [json, ['Transfer-Encoding', 'chunked']]);
    await reply.chunk('\n');
    await reply.sleep(1_100);
    await reply.chunk('\n');
    await seen;
    await reply.chunk('{}');
    await reply.lastChunk();
  });
  const connection = await connect(pair.rig.port);
  t.after(() => connection.destroy());
  await connection.write(questionBytes());
  await connection.sees('\r\n\r\n');
  goOn();
  assert.equal((await connection.nextResponse()).body.toString(), '\n\n{}');
});

test('a requested event stream passes with any content type, and HTML instead of a stream gives 502', async (t) => {
  const pair = await startPair(t);
  const stream = ': wait\n\ndata: {"choices":[]}\n\ndata: [DONE]\n\n';
  const asked = `{"model":"m",${bodies['/v1/chat/completions']},"stream":true}`;
  for (const headers of [[['Content-Type', 'text/event-stream']], [['Content-Type', 'text/plain']], []] as const) {
    for (const sent of [stream, stream.slice(8), `id: 1\n${stream}`, `retry: 1\n${stream}`, `event: x\n${stream}`]) {
      pair.upstream.respondWith((_request, reply) => reply.bytes(200, headers, [...sent], { chunked: true }));
      const answer = await pair.rig.post('/v1/chat/completions', asked);
      assert.equal(answer.status, 200);
      assert.equal(answer.body.toString(), sent);
    }
  }
  pair.upstream.respondWith((_request, reply) => reply.bytes(200, [['Content-Type', 'text/html']], page));
  assert.equal((await pair.rig.post('/v1/chat/completions', asked)).status, 502);
});

test('responses with another status, audio and custom routes pass even if they are no JSON', async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    ...toDocument(upstream.url, {}, {}, { operations: ['embeddings', 'speech', 'own'] }),
    routes: [{ path: '/v1/anything' }],
  });
  for (const status of [201, 202, 203, 206, 400, 422]) {
    upstream.respondWith((_request, reply) => reply.bytes(status, [['Content-Type', 'text/html']], page));
    const answer = await rig.post('/v1/embeddings', '{"model":"m","input":"x"}');
    assert.equal(answer.status, status);
    assert.equal(answer.body.toString(), page);
  }
  upstream.respondWith((_request, reply) => reply.bytes(200, [['Content-Type', 'audio/mpeg']], 'ID3'));
  const spoken = await rig.post('/v1/audio/speech', '{"model":"m","input":"x","voice":"v"}');
  assert.equal(spoken.body.toString(), 'ID3');
  assert.equal((await rig.post('/v1/anything', '{"model":"m"}')).body.toString(), 'ID3');
});

test('a transcription is text if requested or declared, else JSON', async (t) => {
  let type = 'text/plain';
  const pair = await startPair(t, (_request, reply) => reply.bytes(200, [['Content-Type', type]], 'Hello.'));
  const boundary = 'b0undary';
  const formOf = (format: string | undefined): string =>
    [
      ...[['model', 'm'], ...(format === undefined ? [] : [['response_format', format]])].map(
        ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      ),
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--${boundary}--\r\n`,
    ].join('');
  const headers = authorized(['Content-Type', `multipart/form-data; boundary=${boundary}`]);
  const cases: readonly (readonly [format: string | undefined, type: string, status: number])[] = [
    ...['text', 'srt', 'vtt', 'tsv'].map((format) => [format, 'text/html', 200] as const),
    ...['json', 'verbose_json', 'diarized_json'].map((format) => [format, 'text/plain', 502] as const),
    ...['text/plain', 'text/vtt', 'application/x-subrip'].map((one) => [undefined, one, 200] as const),
    [undefined, 'text/html', 502],
  ];
  for (const path of ['/v1/audio/transcriptions', '/v1/audio/translations']) {
    for (const [format, declared, status] of cases) {
      type = declared;
      const answer = await pair.rig.post(path, formOf(format), { headers });
      assert.equal(answer.status, status, `${format} ${declared}`);
      if (status === 200) assert.equal(answer.body.toString(), 'Hello.');
    }
  }
});
