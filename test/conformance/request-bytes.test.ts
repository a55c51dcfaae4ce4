/** What reaches an upstream: the client's bytes, with nothing but the model's name changed, and headers by allow-list. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { send, toRequestBytes } from '../support/clients/raw-client.ts';
import { openaiRoutes, pathUpstream } from '../support/gateways/openai-routes.ts';
import { type Rig, type RigDocument, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream, type UpstreamRequest } from '../support/upstreams/fake-upstream.ts';

async function startPair(t: TestContext, more: RigDocument = {}): Promise<{ upstream: FakeUpstream; rig: Rig }> {
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, { ok: true }));
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: `${upstream.url}/base/v1`, api_key: 'sk-upstream-secret' }],
    models: [
      { id: 'same', targets: [{ upstream: 'up' }] },
      { id: 'renamed', targets: [{ upstream: 'up', model: 'an/upstream/name that is "longer" and ünïcödé 模型' }] },
      { id: 'a-rather-long-public-name', targets: [{ upstream: 'up', model: 's' }] },
      { id: 'ünïcödé', targets: [{ upstream: 'up', model: 'plain' }] },
      { id: 'talks', accepts_messages: true, space: 'x', targets: [{ upstream: 'up' }] },
    ],
    ...more,
  });
  return { upstream, rig };
}

async function exchange(
  { upstream, rig }: { upstream: FakeUpstream; rig: Rig },
  path: string,
  body: string | Buffer,
  headers: readonly (readonly [string, string])[] = [],
): Promise<UpstreamRequest> {
  const answer = await rig.post(path, body, {
    headers: [['Authorization', `Bearer ${testKey}`], ['Content-Type', 'application/json'], ...headers],
  });
  assert.equal(answer.status, 200, answer.body.toString());
  return upstream.nextRequest();
}

const required: Record<string, string> = {
  completions: '"prompt":"p"',
  edits: '"input":"i","instruction":"do"',
  rerank: '"query":"q","documents":["d"]',
  moderations: '"input":"i"',
  embeddings: '"input":"i"',
  images: '"prompt":"p"',
  image_edits: '"prompt":"p","images":[{}]',
  speech: '"input":"i","voice":"v"',
  chat: '"messages":[{"role":"user","content":"c"}]',
  responses: '"input":"i"',
};

test('every route and alias reaches its upstream path with the body unchanged', async (t) => {
  const pair = await startPair(t);
  for (const route of openaiRoutes) {
    for (const alias of [route.path, ...route.aliases]) {
      for (const slash of ['', '/']) {
        const fields = required[route.operation] ?? '';
        const body = `{ "model":"same" ,${fields}, "x":1.0}`;
        const seen = await exchange(pair, alias.replace('{model}', 'same') + slash, body);
        assert.equal(seen.path, `/base/v1${pathUpstream(route)}`, alias);
        assert.equal(seen.method, 'POST');
        assert.equal(seen.body.toString(), body, alias);
      }
    }
  }
});

const oddities = [
  '"dimensions":1.0,"a":1e3,"b":1E+03,"c":12345678901234567890,"d":-0,"e":0.10,"f":1.5e-7',
  '"z":1,"a":2,"z":3,"z":{"z":1,"z":2},"":0,"__proto__":{"x":1},"constructor":null',
  ' \t\r\n"x" \n:\t[ 1 , 2\r\n] ,"y":{ }\n',
  '"u":"\\u0041\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\"\\\\","raw":"é模😀\u2028\u007f","lone":"\\ud800"',
  '"user":null,"top_n":null,"stop":null,"dimensions":null,"encoding_format":"base64"',
  '"nested":[[[[{"model":"inner","input":7}]]]]',
];

test('number spelling, order, white space, unknown and duplicate fields, escapes and nulls are kept', async (t) => {
  const pair = await startPair(t);
  for (const odd of oddities) {
    const body = `\n {"input":["one","two"],${odd},"model":"same"} \n`;
    const seen = await exchange(pair, '/v1/embeddings', body);
    assert.equal(seen.body.toString(), body);
  }
});

test('a model is renamed in place, to longer, shorter, escaped and non-ASCII names, and nothing else changes', async (t) => {
  const pair = await startPair(t);
  const long = JSON.stringify('an/upstream/name that is "longer" and ünïcödé 模型');
  const cases: [written: string, expected: string][] = [
    ['"renamed"', long],
    ['"\\u0072enamed"', long],
    ['"a-rather-long-public-name"', '"s"'],
    ['"ünïcödé"', '"plain"'],
    ['"\\u00fcn\\u00efc\\u00f6d\\u00e9"', '"plain"'],
    ['"s\\u0061me"', '"s\\u0061me"'],
  ];
  for (const [written, expected] of cases) {
    for (const frame of [
      (model: string) => `{"model":${model},"input":"x","b":1.0}`,
      (model: string) => `{"input":"x","b":[1,{"model":"same"}] ,\n"mod\\u0065l" : ${model} }`,
    ]) {
      const seen = await exchange(pair, '/v1/embeddings', frame(written));
      assert.equal(seen.body.toString(), frame(expected));
    }
  }
});

test("token arrays, nested arrays and objects pass as input, as do the other routes' variants", async (t) => {
  const pair = await startPair(t);
  const bodies: [string, string][] = [
    ['/v1/embeddings', '{"model":"same","input":[1,2,3]}'],
    ['/v1/embeddings', '{"model":"same","input":[[1,2],[3]]}'],
    ['/v1/embeddings', '{"model":"same","input":[{"text":"a"}]}'],
    ['/v1/embeddings', '{"model":"same","input":[]}'],
    ['/v1/embeddings', '{"model":"same","input":""}'],
    ['/v1/embeddings', '{"model":"talks","messages":[{"role":"user","content":"x"}]}'],
    ['/v1/completions', '{"model":"same","prompt":["a","b"]}'],
    ['/v1/completions', '{"model":"same","prompt":[1,2]}'],
    ['/v1/completions', '{"model":"same","prompt":[[1],[2]],"logprobs":5}'],
    ['/v1/rerank', '{"model":"same","query":{"text":"q"},"documents":[{"text":"a"},"b"]}'],
    ['/v1/rerank', '{"model":"same","query":"","documents":[]}'],
    [
      '/v1/moderations',
      '{"model":"same","input":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}}]}',
    ],
  ];
  for (const [path, body] of bodies) assert.equal((await exchange(pair, path, body)).body.toString(), body);
});

test('the legacy /v1/engines path inserts its model in the body, and overrides one there', async (t) => {
  const pair = await startPair(t);
  const cases: [body: string, expected: string][] = [
    ['{"input":"x"}', '{"model":"s","input":"x"}'],
    [' { \n"input":["x"],"u":1.0 }', ' {"model":"s", \n"input":["x"],"u":1.0 }'],
    ['{"input":"x","model":"whatever"}', '{"input":"x","model":"s"}'],
    ['{"model":null,"input":"x"}', '{"model":"s","input":"x"}'],
    ['{"model":["x"],"input":"x"}', '{"model":"s","input":"x"}'],
  ];
  for (const [body, expected] of cases) {
    const seen = await exchange(pair, '/v1/engines/a-rather-long-public-name/embeddings', body);
    assert.equal(seen.path, '/base/v1/embeddings');
    assert.equal(seen.body.toString(), expected);
  }
});

test('an upstream with legacy_engines: native gets the /v1/engines path, with the model as one encoded segment', async (t) => {
  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, {}));
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [
      { id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-secret', legacy_engines: 'native' },
    ],
    models: [{ id: 'public', operations: ['embeddings'], targets: [{ upstream: 'up', model: 'BAAI/bge m3?#%' }] }],
  });
  const plain = await exchange({ upstream, rig }, '/v1/engines/public/embeddings', '{ "input" : "x" }');
  assert.equal(plain.path, '/engines/BAAI%2Fbge%20m3%3F%23%25/embeddings');
  assert.equal(plain.body.toString(), '{ "input" : "x" }');
  const named = await exchange({ upstream, rig }, '/v1/engines/public/embeddings', '{"model":"old","input":"x"}');
  assert.equal(named.body.toString(), '{"model":"BAAI/bge m3?#%","input":"x"}');
});

test("only listed headers are forwarded, with the gateway's credential, agent and ID, and no query", async (t) => {
  const pair = await startPair(t, {
    upstreams: [],
  }).catch(() => undefined);
  assert.equal(pair, undefined, 'a model without its upstream is refused');

  const upstream = await startFakeUpstream((_request, reply) => reply.json(200, {}));
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [
      {
        id: 'up',
        family: 'openai',
        base_url: upstream.url,
        api_key: 'sk-upstream-secret',
        headers: { 'X-Static': 'yes' },
        forward_headers: ['X-Tenant'],
      },
    ],
    models: [{ id: 'same', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
  });
  const seen = await exchange({ upstream, rig }, '/v1/embeddings?api-key=abc&x=1', '{"model":"same","input":"x"}', [
    ['Accept', 'application/json'],
    ['Accept-Encoding', 'gzip, br'],
    ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['tracestate', 'a=1'],
    ['Idempotency-Key', 'k-1'],
    ['OpenAI-Beta', 'b=1'],
    ['X-Tenant', 'blue'],
    ['X-Request-Id', 'client-id-1'],
    ['x-api-key', 'other'],
    ['api-key', 'other'],
    ['Cookie', 'a=b'],
    ['X-Forwarded-For', '1.2.3.4'],
    ['OpenAI-Organization', 'org'],
    ['OpenAI-Project', 'proj'],
    ['X-Stainless-Lang', 'js'],
    ['User-Agent', 'OpenAI/JS 7'],
    ['Referer', 'http://x/'],
  ]);
  assert.equal(seen.path, '/embeddings');
  const id = seen.header('x-request-id') ?? '';
  assert.match(id, /^[0-9a-f]{32}$/);
  assert.deepEqual(Object.fromEntries(seen.headers.map(([name, value]) => [name.toLowerCase(), value])), {
    host: `127.0.0.1:${upstream.port}`,
    connection: 'keep-alive',
    authorization: 'Bearer sk-upstream-secret',
    'x-static': 'yes',
    'content-type': 'application/json',
    'user-agent': seen.header('user-agent'),
    'x-request-id': id,
    'x-postern-loop': await rig.store.settings.installation(),
    accept: 'application/json',
    'accept-encoding': 'gzip, br',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=1',
    'idempotency-key': 'k-1',
    'openai-beta': 'b=1',
    'x-tenant': 'blue',
    'content-length': '28',
  });
  assert.match(seen.header('user-agent') ?? '', /^postern/);
});

test('compressed bodies are decompressed before forwarding', async (t) => {
  const pair = await startPair(t);
  const body = '{"model":"renamed","input":"squeezed"}';
  const encodings: [string, Buffer][] = [
    ['gzip', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
    ['deflate', deflateSync(body)],
    ['deflate', deflateRawSync(body)],
    ['zstd', zstdCompressSync(body)],
    ['identity', Buffer.from(body)],
    ['GZIP', gzipSync(body)],
  ];
  for (const [name, bytes] of encodings) {
    const seen = await exchange(pair, '/v1/embeddings', bytes, [['Content-Encoding', name]]);
    assert.equal(seen.header('content-encoding'), undefined);
    assert.match(seen.body.toString(), /"input":"squeezed"\}$/);
  }
});

test('a body that arrives byte by byte or in chunks is forwarded completely', async (t) => {
  const { upstream, rig } = await startPair(t);
  const body = '{"model":"same","input":"segmentiert: é模😀"}';
  const headers: [string, string][] = [['Authorization', `Bearer ${testKey}`]];
  const whole = toRequestBytes({ path: '/v1/embeddings', headers, body: Buffer.from(body) });
  const bytewise = [...whole].map((byte) => ({ bytes: Buffer.from([byte]), afterMs: 1 }));
  assert.equal((await send(rig.port, bytewise)).status, 200);
  assert.equal((await upstream.nextRequest()).body.toString(), body);

  const chunked = Buffer.from(body)
    .toString('latin1')
    .replace(/[\s\S]{1,3}/g, (part) => `${part.length.toString(16)}\r\n${part}\r\n`);
  const answer = await rig.post('/v1/embeddings', Buffer.from(`${chunked}0\r\n\r\n`, 'latin1'), {
    headers: [...headers, ['Content-Type', 'application/json'], ['Transfer-Encoding', 'chunked']],
  });
  assert.equal(answer.status, 200, answer.body.toString());
  const seen = await upstream.nextRequest();
  assert.equal(seen.body.toString(), body);
  assert.equal(seen.header('content-length'), String(Buffer.byteLength(body)));
  assert.equal(seen.header('transfer-encoding'), undefined);
});

test('a body of 30 MB is forwarded byte for byte', async (t) => {
  const pair = await startPair(t);
  const texts = Array.from({ length: 3000 }, (_, i) => `${'0123456789abcdé'.repeat(640)}${i}`);
  const body = Buffer.from(JSON.stringify({ input: texts, model: 'a-rather-long-public-name' }));
  assert.ok(body.length > 30_000_000 && body.length < 32 * 1024 * 1024, String(body.length));
  const seen = await exchange(pair, '/v1/embeddings', body);
  const expected = Buffer.from(JSON.stringify({ input: texts, model: 's' }));
  assert.ok(seen.body.equals(expected));
});
