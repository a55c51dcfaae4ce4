/** Vectors that clients want shorter, of a model that was trained for it: cut here, of unit length, and no upstream knows. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { startSeveral } from '../support/gateways/several.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { inputsOf, json } from '../support/upstreams/list-service.ts';

const model = { operations: ['embeddings'], matryoshka: true, dimensions: 4 };
const whole = [0.6, 0.8, 3, -4];
const toText = (values: readonly number[]): string => Buffer.from(new Float32Array(values).buffer).toString('base64');

/** Of each text the same; its number stands behind the vector. */
const embeds: Handler = (request, reply) => {
  const isBase64 = request.body.includes('base64');
  const vector = isBase64 ? `"${toText(whole)}"` : '[0.60, 0.80, 3.0e0, -4]';
  const data = inputsOf(request).map((_, index) => `{"object":"embedding","embedding":${vector},"index":${index}}`);
  const body = `{"object":"list","data":[${data.join()}],"model":"x","usage":{"prompt_tokens":2,"total_tokens":2}}`;
  return reply.bytes(200, json, body);
};

interface Embedded {
  readonly data: readonly { readonly index: number; readonly embedding: unknown }[];
}

const embedded = (body: Buffer): Embedded => JSON.parse(body.toString());

test('dimensions are not sent upstream, and the gateway truncates and normalises the vectors', async (t) => {
  const setup = await startSeveral(t, [embeds], { model });
  for (const [body, sent] of [
    ['{"model":"m","input":["a","b"],"dimensions":3}', '{"model":"m","input":["a","b"]}'],
    ['{"dimensions":3 , "model":"m","input":["a","b"]}', '{ "model":"m","input":["a","b"]}'],
    ['{"dimensions":3,"output_dimension":null,"model":"m","input":["a","b"]}', '{"model":"m","input":["a","b"]}'],
    [
      '{"model":"m", "output_dimension": 3, "input":["a","b"] , "dimensions" : null }',
      '{"model":"m", "input":["a","b"] }',
    ],
  ] as const) {
    const answer = await setup.rig.post('/v1/embeddings', body);
    assert.equal(answer.status, 200, answer.body.toString());
    assert.equal(setup.upstreams[0]?.requests.at(-1)?.body.toString(), sent);
    const norm = Math.sqrt(0.36 + 0.64 + 9);
    const expected = [0.6 / norm, 0.8 / norm, 3 / norm];
    assert.deepEqual(
      embedded(answer.body).data.map(({ index, embedding }) => [index, embedding]),
      [
        [0, expected],
        [1, expected],
      ],
    );
  }
});

test('truncated vectors are returned as base64 if requested', async (t) => {
  const setup = await startSeveral(t, [embeds], { model });
  const answer = await setup.rig.post('/v1/embeddings', {
    model: 'm',
    input: 'a',
    encoding_format: 'base64',
    dimensions: 2,
  });
  assert.deepEqual(embedded(answer.body).data, [{ object: 'embedding', embedding: toText([0.6, 0.8]), index: 0 }]);
});

test("full-width vectors keep the upstream's digits without dimensions in the request", async (t) => {
  const setup = await startSeveral(t, [embeds], { model });
  const asked = await setup.rig.post('/v1/embeddings', '{"model":"m","input":"a","dimensions":4}');
  assert.match(asked.body.toString(), /"embedding":\[0\.60, 0\.80, 3\.0e0, -4\]/);
  assert.equal(setup.upstreams[0]?.requests[0]?.body.toString(), '{"model":"m","input":"a"}');
  const plain = '{ "model":"m", "input":"a", "dimensions": null }';
  assert.match((await setup.rig.post('/v1/embeddings', plain)).body.toString(), /\[0\.60, 0\.80, 3\.0e0, -4\]/);
  assert.equal(setup.upstreams[0]?.requests[1]?.body.toString(), plain);
});

test('the cache holds full vectors, and truncates them per request', async (t) => {
  const setup = await startSeveral(t, [embeds], { model: { ...model, cache: {} } });
  for (const dimensions of [4, 2, 3, undefined]) {
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: 'a', dimensions });
    const [first] = embedded(answer.body).data;
    assert.ok(Array.isArray(first?.embedding));
    assert.equal(first.embedding.length, dimensions ?? 4);
  }
  assert.equal(setup.upstreams[0]?.requests.length, 1);
});

test('vectors that cannot be truncated are refused before any call', async (t) => {
  const setup = await startSeveral(t, [embeds], { model });
  for (const dimensions of [5, 0, -1, 1.5]) {
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: 'a', dimensions });
    assertError(answer, 'unsupported_parameter', { param: 'dimensions', message: /from 1 to 4/ });
  }
  const bits = { model: 'm', input: 'a', dimensions: 2, output_dtype: 'int8' };
  assertError(await setup.rig.post('/v1/embeddings', bits), 'unsupported_parameter', { param: 'output_dtype' });
  assert.equal(setup.upstreams[0]?.requests.length, 0);
});

test('dimensions are not sent to an upstream that has another name for them either', async (t) => {
  const setup = await startSeveral(t, [embeds], { model, upstream: { family: 'tei', options: { max_items: 1 } } });
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: ['a', 'b', 'c'], dimensions: 2 });
  assert.equal(answer.header('x-postern-calls'), '3');
  assert.deepEqual(
    embedded(answer.body).data.map(({ index, embedding }) => [index, embedding]),
    [0, 1, 2].map((index) => [index, [0.6, 0.8]]),
  );
  assert.ok(setup.upstreams[0]?.requests.every(({ body }) => !body.includes('dimensions')));
});
