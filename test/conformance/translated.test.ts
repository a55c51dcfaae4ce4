/** A translated request is served like any other: parameters, numbers, headers, limits and times as in the contract. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import { authorized } from '../support/gateways/pair.ts';
import { silent } from '../support/gateways/several.ts';
import {
  cohereAnswer,
  cohereEmbeds,
  jsonIn,
  openaiEmbeds,
  startTranslated,
  textsIn,
  usageIn,
  vectorsIn,
} from '../support/gateways/translated.ts';
import { patiently } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const question = { model: 'm', input: 'abc' };

/** A good answer in other words. */
const saying =
  (status: number, headers: readonly (readonly [string, string])[], encode: (body: Buffer) => Buffer): Handler =>
  (request, reply) =>
    reply.bytes(status, headers, encode(Buffer.from(JSON.stringify(cohereAnswer(request)))));

test('response headers name the translation and the dropped fields', async (t) => {
  const { embed, rig } = await startTranslated(t);
  const answer = await embed({ ...question, user: 'u' });
  assert.equal(answer.status, 200);
  assert.equal(answer.header('x-postern-translated'), 'cohere');
  assert.equal(answer.header('x-postern-ignored'), 'user');
  assert.equal(answer.header('x-postern-usage'), undefined);
  assert.equal(answer.header('content-type'), 'application/json');
  assert.equal(answer.header('x-postern-space'), 'embed-v4.0');
  const { usage, tries } = await rig.exchange();
  assert.deepEqual(usage, { promptTokens: 1, completionTokens: null, totalTokens: 1, searchUnits: null });
  assert.deepEqual(tries, []);
});

test('missing usage is estimated for the client and marked; the ledger keeps none', async (t) => {
  const { embed, rig } = await startTranslated(t, (_request, reply) =>
    reply.json(200, { embeddings: { float: [[1, 2]] } }),
  );
  const answer = await embed({ model: 'm', input: 'x'.repeat(40) });
  assert.equal(answer.header('x-postern-usage'), 'estimated');
  assert.deepEqual(usageIn(answer), { prompt_tokens: 10, total_tokens: 10 });
  assert.equal((await rig.exchange()).usage, null);
});

test('server.diagnostics: false hides the translation headers', async (t) => {
  const { embed } = await startTranslated(
    t,
    (_request, reply) => reply.json(200, { embeddings: { float: [[1, 2]] } }),
    { server: { diagnostics: false } },
  );
  const answer = await embed({ ...question, user: 'u' });
  assert.equal(answer.status, 200);
  assert.deepEqual(
    answer.headers.filter(([name]) => name.startsWith('x-postern') || name === 'server-timing'),
    [],
  );
});

test('an untranslated call is unchanged: family openai, and others that need no translation', async (t) => {
  const body = '{ "input":"1", "model":"m","n":1.0, "dimensions" : 1e2,"x":[ ] }';
  for (const family of ['openai', 'tei']) {
    const { embed, upstream } = await startTranslated(t, openaiEmbeds, { family, target: { model: 'm' } });
    const answer = await embed(body);
    assert.equal(answer.header('x-postern-translated'), undefined, family);
    assert.equal(upstream.requests[0]?.body.toString(), body, family);
  }
});

test('a checked response that needs no change keeps its bytes, status and usage, without translation headers', async (t) => {
  const body = '{"data":[{"index":0, "embedding":"AAAAPw=="}],"usage":{"prompt_tokens":3,"total_tokens":3}}';
  const { embed, rig } = await startTranslated(
    t,
    (_request, reply) => reply.bytes(201, [['Content-Encoding', 'gzip']], gzipSync(Buffer.from(body))),
    { family: 'tei' },
  );
  const answer = await embed({ ...question, encoding_format: 'base64' });
  assert.equal(answer.status, 201);
  assert.equal(answer.body.toString(), body);
  assert.equal(answer.header('content-encoding'), undefined);
  assert.equal(answer.header('x-postern-translated'), undefined);
  const { usage } = await rig.exchange();
  assert.deepEqual(usage, {
    promptTokens: 3,
    completionTokens: null,
    totalTokens: 3,
    searchUnits: null,
    cachedTokens: null,
  });
});

test('the gateway sets content and accept headers itself; others are forwarded as usual', async (t) => {
  const { embed, upstream } = await startTranslated(t, cohereEmbeds, {
    upstream: { headers: { 'x-static': 's' }, forward_headers: ['x-mine'] },
  });
  await embed(
    question,
    ['Content-Type', 'application/vnd.x+json'],
    ['Accept', 'text/html'],
    ['Accept-Encoding', 'gzip'],
    ['Idempotency-Key', 'k'],
    ['X-Mine', 'mine'],
    ['Cookie', 'c=1'],
    ['X-Postern-Shape', 'cohere'],
  );
  const [request] = upstream.requests;
  const said = [
    'content-type',
    'accept',
    'accept-encoding',
    'idempotency-key',
    'x-mine',
    'x-static',
    'cookie',
    'x-postern-shape',
  ];
  assert.deepEqual(
    said.map((name) => request?.header(name)),
    ['application/json', 'application/json', 'identity', 'k', 'mine', 's', undefined, undefined],
  );
  assert.match(request?.header('authorization') ?? '', /^Bearer sk-upstream/);
  assert.equal(request?.path, '/v2/embed');
});

test('upstream headers are kept, except those about a body that the client does not get', async (t) => {
  const ofTheBody: [string, string][] = [
    ['ETag', '"a"'],
    ['Content-MD5', 'x'],
    ['Content-Location', '/e'],
    ['Last-Modified', 'yesterday'],
    ['Digest', 'x'],
  ];
  const { embed } = await startTranslated(
    t,
    saying(
      200,
      [['Content-Encoding', 'gzip'], ['X-Ratelimit-Remaining', '7'], ['Set-Cookie', 'a=b'], ...ofTheBody],
      gzipSync,
    ),
  );
  const answer = await embed(question);
  assert.deepEqual(vectorsIn(answer), [[3, 0.5]]);
  assert.equal(answer.header('x-ratelimit-remaining'), '7');
  for (const name of ['content-encoding', 'set-cookie', ...ofTheBody.map(([one]) => one)]) {
    assert.equal(answer.header(name), undefined, name);
  }
  assert.equal(answer.header('content-length'), String(answer.body.length));
});

test('decompresses every content coding', async (t) => {
  const codings: [string, (body: Buffer) => Buffer][] = [
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['identity', (body) => body],
    ['gzip, br', (body) => brotliCompressSync(gzipSync(body))],
  ];
  for (const [coding, encode] of codings) {
    const { embed } = await startTranslated(t, saying(200, [['content-encoding', coding]], encode));
    assert.deepEqual(vectorsIn(await embed(question)), [[3, 0.5]], coding);
  }
});

test('refuses a response that does not match its content coding', async (t) => {
  const wrong: [string, (body: Buffer) => Buffer][] = [
    ['gzip', (body) => body],
    ['gzip', (body) => gzipSync(body).subarray(0, 30)],
    ['sdch', (body) => body],
  ];
  for (const [coding, encode] of wrong) {
    const { embed } = await startTranslated(t, saying(200, [['content-encoding', coding]], encode));
    assertError(await embed(question), 'upstream_protocol_error', { message: /Content-Encoding|does not fit/ });
  }
});

test('accepts any success status with a valid response', async (t) => {
  for (const status of [200, 201, 206, 299]) {
    const { embed } = await startTranslated(
      t,
      saying(status, [], (body) => body),
    );
    const answer = await embed(question);
    assert.equal(answer.status, 200, String(status));
    assert.deepEqual(vectorsIn(answer), [[3, 0.5]]);
  }
});

test('a success status without a valid response is never passed on as success', async (t) => {
  for (const status of [204, 205, 300, 302, 304, 307]) {
    const mayHaveBody = status >= 300 && status !== 304;
    const body = mayHaveBody ? '{"embeddings":{"float":[[1]]},"meta":{"billed_units":{"input_tokens":1}}}' : '';
    const { embed } = await startTranslated(t, (_request, reply) =>
      reply.bytes(status, [['location', 'http://127.0.0.1:1/']], body),
    );
    assertError(await embed(question), 'upstream_protocol_error');
  }
});

test('a response over answer_limit is not read, and the limit is named', async (t) => {
  const long = JSON.stringify({ embeddings: { float: [[1]] }, pad: 'x'.repeat(20_000) });
  const { embed, upstream } = await startTranslated(t, (_request, reply) => reply.bytes(200, [], long), {
    upstream: { answer_limit: '16KiB' },
  });
  assertError(await embed(question), 'upstream_protocol_error', { message: /over 16384 bytes.*answer_limit/ });
  upstream.respondWith((_request, reply) => reply.bytes(200, [['content-encoding', 'gzip']], gzipSync(long)));
  assertError(await embed(question), 'upstream_protocol_error', { message: /over 16384 bytes.*answer_limit/ });
  upstream.respondWith(cohereEmbeds);
  assert.equal((await embed(question)).status, 200);
});

test('a truncated or stalled response is an error', async (t) => {
  const cut: Handler = async (_request, reply) => {
    await reply.head(200, [['content-length', '100']]);
    await reply.raw('{"embeddings"');
    reply.cut();
  };
  const { embed, upstream } = await startTranslated(t, cut, { upstream: { timeouts: { idle: patiently(20) } } });
  assertError(await embed(question), 'upstream_unreachable');
  upstream.respondWith(async (_request, reply) => {
    await reply.head(200, [['content-length', '100']]);
    await reply.raw('{"embeddings"');
    await reply.stall();
  });
  assertError(await embed(question), 'upstream_timeout', { message: /timeouts\.idle/ });
});

test('a silent upstream, or one too slow in total, times out', async (t) => {
  const first = await startTranslated(t, silent, { upstream: { timeouts: { first_byte: patiently(15) } } });
  assertError(await first.embed(question), 'upstream_timeout', { message: /timeouts\.first_byte/ });
  const trickle: Handler = async (_request, reply) => {
    await reply.head(200, [['transfer-encoding', 'chunked']]);
    while (reply.open) {
      await reply.chunk(' ');
      await reply.sleep(10);
    }
  };
  const total = await startTranslated(t, trickle, { upstream: { timeouts: { total: patiently(37.5) } } });
  assertError(await total.embed(question), 'upstream_timeout', { message: /timeouts\.total/ });
  await until(() => total.upstream.connections().open === 0);
});

test('defaults fill absent and null fields only', async (t) => {
  const { embed, upstream } = await startTranslated(t, cohereEmbeds, {
    target: { defaults: { input_type: 'search_query', truncate: 'END', nothing: null } },
  });
  for (const [sent, reached] of [
    [{}, { input_type: 'search_query', truncate: 'END' }],
    [
      { input_type: null, truncate: 'NONE' },
      { input_type: 'search_query', truncate: 'NONE' },
    ],
    [{ input_type: 'classification' }, { input_type: 'classification', truncate: 'END' }],
  ]) {
    await embed({ ...question, ...sent });
    const body = jsonIn(await upstream.nextRequest());
    const { input_type, truncate } = body;
    assert.deepEqual({ input_type, truncate }, reached);
    assert.equal('nothing' in body, false);
  }
});

test("input_type in another service's words is sent in the upstream's own", async (t) => {
  const refuse: Handler = (_request, reply) => reply.json(400, { message: 'seen' });
  for (const [family, field, query, document] of [
    ['cohere', 'input_type', 'search_query', 'search_document'],
    ['voyage', 'input_type', 'query', 'document'],
    ['nvidia', 'input_type', 'query', 'passage'],
    ['jina', 'task', 'retrieval.query', 'retrieval.passage'],
  ] as const) {
    const { embed, upstream } = await startTranslated(t, refuse, { family, target: { unsupported: 'refuse' } });
    for (const [said, reached] of [
      ['query', query],
      ['search_query', query],
      ['document', document],
      ['search_document', document],
      ['passage', document],
    ] as const) {
      await embed({ ...question, input_type: said });
      const { [field]: sent } = jsonIn(await upstream.nextRequest());
      assert.equal(sent, reached, `${said} at ${family}`);
    }
    if (field === 'input_type') continue;
    await embed({ ...question, input_type: 'query', [field]: 'text-matching' });
    assert.equal(jsonIn(await upstream.nextRequest())[field], 'text-matching', 'its own field goes first');
  }
});

test('defaults apply to every request, even where only some need a translation', async (t) => {
  const { embed, upstream } = await startTranslated(t, openaiEmbeds, {
    family: 'tei',
    target: { defaults: { truncate: true } },
  });
  const answer = await embed({ model: 'm', input: '7' });
  assert.deepEqual(vectorsIn(answer), [[7, 0.5]]);
  assert.equal(answer.header('x-postern-translated'), 'tei');
  assert.equal(jsonIn(await upstream.nextRequest()).truncate, true);
});

test('an unsupported parameter is refused by name, or dropped if so configured', async (t) => {
  const strict = await startTranslated(t, openaiEmbeds, { family: 'mistral' });
  assertError(await strict.embed({ ...question, frobnicate: 1 }), 'unsupported_parameter', {
    param: 'frobnicate',
    message: /"frobnicate" cannot be served.*"up"/,
  });
  assert.equal(strict.upstream.requests.length, 0);
  const lax = await startTranslated(t, openaiEmbeds, { family: 'mistral', target: { unsupported: 'drop' } });
  const answer = await lax.embed({ model: 'm', input: '1', frobnicate: 1, user: 'u' });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.header('x-postern-ignored')?.split(', ').toSorted(), ['frobnicate', 'user']);
  assert.equal('frobnicate' in jsonIn(await lax.upstream.nextRequest()), false);
});

test('optional hints are dropped, or refused if so configured', async (t) => {
  const target = { model: 'embed-english-v3.0' };
  const lax = await startTranslated(t, cohereEmbeds, { target });
  const answer = await lax.embed({ ...question, dimensions: 64 });
  assert.equal(answer.header('x-postern-ignored'), 'dimensions');
  const strict = await startTranslated(t, cohereEmbeds, { target: { ...target, unsupported: 'refuse' } });
  assertError(await strict.embed({ ...question, dimensions: 64 }), 'unsupported_parameter', { param: 'dimensions' });
});

test('any parameter name leaves the response head well-formed', async (t) => {
  const { embed } = await startTranslated(t, openaiEmbeds, { family: 'mistral', target: { unsupported: 'drop' } });
  const names = ['\ud800', 'a, b', 'x\r\ny: z', 'é', 'y'.repeat(5_000)];
  const answer = await embed({ model: 'm', input: '1', ...Object.fromEntries(names.map((name) => [name, 1])) });
  assert.equal(answer.status, 200);
  const ignored = answer.header('x-postern-ignored') ?? '';
  assert.equal(ignored, '%EF%BF%BD, a%2C%20b, x%0D%0Ay%3A%20z, %C3%A9, ...');
});

test('a very long parameter name is shortened in the error', async (t) => {
  const { embed } = await startTranslated(t, openaiEmbeds, { family: 'mistral' });
  const answer = await embed({ ...question, [`${'n'.repeat(5_000)}`]: 1 });
  assertError(answer, 'unsupported_parameter', { param: `${'n'.repeat(200)}...` });
  assert.ok(answer.body.length < 2_000, String(answer.body.length));
});

test('unknown parameters pass with every digit and any name', async (t) => {
  const { embed, upstream } = await startTranslated(t);
  const unknown =
    '"__proto__":{"a":1},"constructor":"c","big":12345678901234567890,"f":1.0,"e":[1e3,2],"s":"\\ud800\\u0000"';
  const answer = await embed(`{"model":"m","input":"abc",${unknown}}`);
  assert.deepEqual(vectorsIn(answer), [[3, 0.5]]);
  const sent = upstream.requests[0]?.body.toString() ?? '';
  for (const part of [
    '"__proto__":{"a":1}',
    '"constructor":"c"',
    '"big":12345678901234567890',
    '"f":1.0',
    '"e":[1e3,2]',
    '"s":"\\ud800\\u0000"',
  ]) {
    assert.ok(sent.includes(part), `${part} in ${sent}`);
  }
});

test('a body may be nested as deep as documented, and no deeper', async (t) => {
  const { embed } = await startTranslated(t);
  const nested = (depth: number) => `{"model":"m","input":"abc","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  assert.equal((await embed(nested(64))).status, 200);
  assertError(await embed(nested(65)), 'body_too_deep');
});

test('a field that the gateway reads may not be duplicated, in any case', async (t) => {
  const { embed, rig, upstream } = await startTranslated(t);
  assertError(await embed('{"model":"m","input":"a","input":"b"}'), 'duplicate_parameter', { param: 'input' });
  assertError(await embed('{"model":"m","input":"a","Input":"b"}'), 'duplicate_parameter', { param: 'input' });
  const legacy = (body: string) => rig.post('/v1/engines/m/embeddings', body, { headers: authorized() });
  assertError(await legacy('{"input":"a","Model":"other"}'), 'duplicate_parameter', { param: 'model' });
  assert.equal(upstream.requests.length, 0);
  assert.deepEqual(vectorsIn(await legacy('{"input":"abc","model":"other"}')), [[3, 0.5]]);
  assert.equal(jsonIn(await upstream.nextRequest()).model, 'embed-v4.0');
});

test('a body with excessively many values is refused before it takes memory and time', async (t) => {
  const { embed, upstream } = await startTranslated(t);
  const members = (count: number): string => Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',');
  const nested = Array.from({ length: 51 }, (_, index) => `"n${index}":{${members(10_000)}}`).join(',');
  const rows: readonly [input: string, message: RegExp][] = [
    [`["a"${',"1"'.repeat(60_000)}]`, /a list of more than 50000 is not split/],
    [`[{${nested}}]`, /more than 500000 values/],
    [`[{${members(10_001)}}]`, /more than 10000 members in one object/],
    [`[{"${'k'.repeat(10_001)}":0}]`, /more than 10000 characters in one name/],
  ];
  for (const [input, message] of rows) {
    assertError(await embed(`{"model":"m","input":${input}}`), 'body_too_large', { message });
  }
  assertError(await embed(`{"model":"m","input":"a",${members(10_001)}}`), 'body_too_large', { message: /members/ });
  assert.equal(upstream.requests.length, 0);
});

test('a long field that would be repeated in each of many calls is refused', async (t) => {
  const { embed, upstream } = await startTranslated(t, openaiEmbeds, {
    family: 'tei',
    upstream: { options: { max_items: 1 } },
  });
  const questionOf = (calls: number) => ({
    model: 'm',
    input: Array.from({ length: calls }, (_, index) => String(index)),
    further: 'x'.repeat(1024 * 1024),
  });
  assertError(await embed(questionOf(65)), 'body_too_large', { message: /in 65 calls.*67108864 bytes/ });
  assert.equal(upstream.requests.length, 0);
  const answer = await embed(questionOf(8));
  assert.equal(answer.status, 200, answer.body.toString());
});

test('a large body is translated with every text', async (t) => {
  const { embed, upstream } = await startTranslated(t, (request, reply) => reply.json(200, cohereAnswer(request)));
  const texts = Array.from({ length: 2_048 }, (_, index) => `${index} ${'Zwölf "Boxkämpfer"\n'.repeat(200)}`);
  const body = Buffer.from(JSON.stringify({ model: 'm', input: texts }));
  assert.ok(body.length > 8 * 1024 * 1024);
  const answer = await embed(body);
  assert.deepEqual(
    vectorsIn(answer).map(([length]) => length),
    texts.map(({ length }) => length),
  );
  assert.equal(upstream.requests.flatMap(textsIn).length, texts.length);
});
