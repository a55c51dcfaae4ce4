/** Where bytes pass, an answer to a list has a result for each item, and vectors of the requested or declared length. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import { newestExchange, startPair } from '../support/gateways/pair.ts';
import { startRig } from '../support/gateways/rig.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const json: HeaderField = ['Content-Type', 'application/json'];
const vectors = (count: number, numbers = '1,2'): string =>
  `{ "object":"list", "data" : [${Array.from({ length: count }, (_, i) => `{"object":"embedding","index":${i},"embedding":[${numbers}]}`).join(', ')}],"usage":{"prompt_tokens":5,"total_tokens":5}}`;
const ranks = (count: number): string =>
  `{"results":[${Array.from({ length: count }, (_, i) => `{"index":${i},"relevance_score":0.5}`)}]}`;
const verdicts = (count: number): string =>
  `{"results":[${Array.from({ length: count }, () => '{"flagged":false,"categories":{}}')}]}`;

interface Case {
  readonly path: string;
  readonly body: string;
  readonly short: readonly string[];
  readonly good: readonly string[];
  readonly expected: RegExp;
}

const cases: readonly Case[] = [
  {
    path: '/v1/embeddings',
    body: '"input":["a","b","c"]',
    short: [
      vectors(0),
      vectors(2),
      '{"data":[]}',
      '{"data":[{},{}]}',
      `{"data":[{"embedding":"\\"embedding\\":"},{}]}`,
    ],
    good: [vectors(3), vectors(4), '{"data":[{},{},{}]}', '{"else":[]}', '{}', '[]', '{"data":[}'],
    expected: /\d vectors for 3 inputs/,
  },
  {
    path: '/v1/embeddings',
    body: '"input":"a"',
    short: [vectors(0)],
    good: [vectors(1)],
    expected: /0 vectors for 1 input/,
  },
  {
    path: '/v1/embeddings',
    body: '"input":[1,2,3]',
    short: [vectors(0)],
    good: [vectors(1)],
    expected: /0 vectors for 1 /,
  },
  {
    path: '/v1/embeddings',
    body: '"input":[[1],[2]]',
    short: [vectors(1)],
    good: [vectors(2)],
    expected: /1 vectors for 2 /,
  },
  { path: '/v1/embeddings', body: '"input":[]', short: [], good: [vectors(0)], expected: /-/ },
  {
    path: '/v1/engines/m/embeddings',
    body: '"input":["a","b"]',
    short: [vectors(1)],
    good: [vectors(2)],
    expected: /1 vectors/,
  },
  {
    path: '/v1/rerank',
    body: '"query":"q","documents":["a","b","c"]',
    short: [ranks(0), ranks(2), ranks(2).replace('results', 'data')],
    good: [ranks(3), ranks(3).replace('results', 'data')],
    expected: /\d results for 3 documents/,
  },
  {
    path: '/v1/rerank',
    body: '"query":"q","documents":["a","b","c"],"top_n":2',
    short: [ranks(0), ranks(1)],
    good: [ranks(2)],
    expected: /\d results for 2 documents/,
  },
  { path: '/v1/rerank', body: '"query":"q","documents":["a"],"top_n":0', short: [], good: [ranks(0)], expected: /-/ },
  {
    path: '/v1/moderations',
    body: '"input":["a","b"]',
    short: [verdicts(0), verdicts(1)],
    good: [verdicts(2)],
    expected: /\d results for 2 inputs/,
  },
  {
    path: '/v1/moderations',
    body: '"input":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"http://x"}}]',
    short: [verdicts(0)],
    good: [verdicts(1)],
    expected: /0 results for 1 inputs/,
  },
];

test('a response with fewer results than items is a failure; every other passes byte for byte', async (t) => {
  const pair = await startPair(t);
  for (const { path, body, short, good, expected } of cases) {
    const asked = `{"model":"m",${body}}`;
    for (const chunked of [false, true]) {
      for (const answer of short) {
        pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json], answer, { chunked }));
        assertError(await pair.rig.post(path, asked), 'upstream_protocol_error', { message: expected, of: answer });
      }
      for (const answer of good) {
        pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json], answer, { chunked }));
        const came = await pair.rig.post(path, asked);
        assert.equal(came.status, 200, `${body}: ${answer}`);
        assert.equal(came.body.toString(), answer);
      }
    }
  }
});

test('a compressed response is checked by its content, and passes unchanged', async (t) => {
  const pair = await startPair(t);
  for (const [name, compress] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const) {
    for (const count of [1, 2]) {
      const sent = compress(vectors(count));
      pair.upstream.respondWith((_request, reply) => reply.bytes(200, [json, ['Content-Encoding', name]], sent));
      const answer = await pair.rig.post('/v1/embeddings', '{"model":"m","input":["a","b"]}');
      assert.equal(answer.status, count === 2 ? 200 : 502);
      if (count === 2) assert.ok(answer.body.equals(sent));
    }
  }
});

test('a response with missing results is retried at the next target', async (t) => {
  const short: Handler = (_request, reply) => reply.bytes(200, [json], '{"data":[]}');
  const one = await startFakeUpstream(short);
  const two = await startFakeUpstream((_request, reply) => reply.bytes(200, [json], vectors(1)));
  t.after(() => one.close());
  t.after(() => two.close());
  const rig = await startRig(t, {
    upstreams: [one, two].map(({ url }, i) => ({ id: `u${i}`, family: 'openai', base_url: url, api_key: 'sk-x' })),
    models: [{ id: 'm', space: 's', targets: [{ upstream: 'u0' }, { upstream: 'u1', priority: 1 }] }],
  });
  const answer = await rig.post('/v1/embeddings', '{"model":"m","input":"a"}');
  assert.equal(answer.body.toString(), vectors(1));
  const { tries, bill } = await rig.exchange(1);
  assert.deepEqual(
    tries.map(({ detail }) => detail),
    ['0 vectors for 1 inputs', 200],
  );
  assert.equal(bill?.inputTokens, 5);
});

test('vectors of a wrong width are an error that names it, and are billed', async (t) => {
  const price = { input: 1 };
  const base64 = (floats: number): string => Buffer.alloc(floats * 4, 1).toString('base64');
  const rows: readonly (readonly [
    declared: number | undefined,
    body: string,
    answer: string,
    expected: RegExp | undefined,
  ])[] = [
    [undefined, '"dimensions":1024', vectors(1), /vectors of 2 numbers, and "dimensions" asks for 1024/],
    [undefined, '"dimensions":2', vectors(1), undefined],
    [undefined, '"dimensions":null', vectors(1), undefined],
    [undefined, '"user":"u"', vectors(1), undefined],
    [3, '"user":"u"', vectors(1), /vectors of 2 numbers, and the operator declares 3/],
    [2, '"user":"u"', vectors(1, ' 1e3 ,\n2'), undefined],
    [2, '"user":"u"', vectors(1, ''), /vectors of 0 numbers/],
    [2, '"output_dtype":"int8"', vectors(1), undefined],
    [2, '"output_dtype":"int8"', vectors(1, '1,2,3'), /vectors of 3 numbers/],
    [16, '"output_dtype":"ubinary"', vectors(1), undefined],
    [2, '"output_dtype":"binary"', vectors(1), /vectors of 16 numbers/],
    [2, '"output_dtype":"binary"', vectors(1, '0.5,1'), undefined],
    [8, '"encoding_format":"base64","output_dtype":"int8"', vectors(1).replace('[1,2]', `"${base64(2)}"`), undefined],
    [
      2,
      '"encoding_format":"base64","output_dtype":"int8"',
      vectors(1).replace('[1,2]', `"${base64(2)}"`),
      /of 8 numbers/,
    ],
    [
      64,
      '"encoding_format":"base64","embedding_type":"binary"',
      vectors(1).replace('[1,2]', `"${base64(2)}"`),
      undefined,
    ],
    [2, '"output_dtype":"int3"', vectors(1, '1,2,3'), undefined],
    [2, '"metadata":{"output_dtype":"binary"}', vectors(1), undefined],
    [2, '"user":"u"', vectors(1).replace('[1,2]', `"${base64(3)}"`), undefined],
    [2, '"encoding_format":"int8"', vectors(1, '1,2,3'), /vectors of 3 numbers/],
    [2, '"encoding_format":"base64"', vectors(1).replace('[1,2]', `"${base64(2)}"`), undefined],
    [2, '"encoding_format":"base64"', vectors(1).replace('[1,2]', `"${base64(3)}"`), /vectors of 3 numbers/],
    [2, '"user":"u"', vectors(1, '[1],[2],[3]'), undefined],
  ];
  for (const [dimensions, body, answer, expected] of rows) {
    const pair = await startPair(t, (_request, reply) => reply.bytes(200, [json], answer), {
      model: { price, ...(dimensions !== undefined && { dimensions }) },
    });
    for (let i = 0; i < 2; i += 1) {
      const came = await pair.rig.post('/v1/embeddings', `{"model":"m","input":"a",${body}}`);
      const { bill, status } = await newestExchange(pair);
      assert.equal(bill?.inputTokens, 5, body);
      assert.equal(bill?.costNanos, 5_000, body);
      assert.equal(bill?.isEstimated, false, body);
      assert.equal(status, expected === undefined ? 200 : 502);
      if (expected === undefined) assert.equal(came.body.toString(), answer);
      else assertError(came, 'upstream_protocol_error', { message: expected, of: body });
    }
    assert.equal(pair.upstream.requests.length, 2, 'nobody is asked twice');
  }
});
