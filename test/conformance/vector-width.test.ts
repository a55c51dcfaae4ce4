/** Vectors of another length than requested or declared: in answers that are translated, split, long, or arrive in pieces. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import type { HeaderField } from '../support/clients/http-message.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { embedder } from '../support/gateways/client-apis.ts';
import { questionBytes, startPair } from '../support/gateways/pair.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { startTranslated } from '../support/gateways/translated.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { embeddingsOf, inputsOf } from '../support/upstreams/list-service.ts';

const json: HeaderField = ['Content-Type', 'application/json'];
const price = { input: 1 };

async function assertBilled(rig: Rig, tokens: number, of: string): Promise<void> {
  const { bill } = await rig.exchange(rig.settled.length === 0 ? 1 : rig.settled.length);
  assert.deepEqual([bill?.inputTokens, bill?.costNanos, bill?.isEstimated], [tokens, tokens * 1_000, false], of);
}

const ollama: Handler = (_request, reply) =>
  reply.json(200, { model: 'x', embeddings: [[0.5, 1]], prompt_eval_count: 7 });
const base64 = Buffer.alloc(8, 1).toString('base64');
const openai =
  (embedding: unknown): Handler =>
  (_request, reply) =>
    reply.json(200, { data: [{ index: 0, embedding }], usage: { prompt_tokens: 7, total_tokens: 7 } });
const native = { options: { api: 'native' } };

test('in a translated response, a wrong width is an error that names it, and the usage is billed', async (t) => {
  for (const [family, upstream, script, dimensions, ask, expected] of [
    ['ollama', native, ollama, undefined, { dimensions: 1024 }, /vectors of 2 numbers, and "dimensions" asks for 1024/],
    ['ollama', native, ollama, 3, {}, /vectors of 2 numbers, and the operator declares 3/],
    ['ollama', native, ollama, 3, { dimensions: 3 }, /"dimensions" asks for 3/],
    ['ollama', native, ollama, undefined, { output_dimension: 4 }, /"dimensions" asks for 4/],
    ['ollama', native, ollama, 2, { dimensions: 2 }, undefined],
    ['ollama', native, ollama, undefined, { dimensions: 0 }, undefined],
    ['ollama', {}, openai(base64), 3, { encoding_format: 'base64' }, /of 2 numbers, and the operator declares 3/],
    ['ollama', {}, openai(base64), 2, { encoding_format: 'base64' }, undefined],
    ['llamacpp', {}, openai([1, 2]), 3, { dimensions: 3 }, /of 2 numbers, and the operator declares 3/],
    // It is named in `x-postern-ignored`.
    ['llamacpp', {}, openai([1, 2]), undefined, { dimensions: 3 }, undefined],
    ['voyage', {}, openai([1, 2]), undefined, { dimensions: 16, output_dtype: 'binary' }, undefined],
    ['voyage', {}, openai([1, 2]), undefined, { dimensions: 8, output_dtype: 'binary' }, /vectors of 16 numbers/],
    ['vllm', {}, openai(base64), 4, { encoding_format: 'base64', embed_dtype: 'float16' }, undefined],
    ['vllm', {}, openai(base64), 2, { encoding_format: 'base64', embed_dtype: 'float16' }, /vectors of 4 numbers/],
  ] as const) {
    const of = JSON.stringify([family, dimensions, ask]);
    const {
      embed,
      rig,
      upstream: setup,
    } = await startTranslated(t, script, {
      family,
      upstream,
      model: { operations: ['embeddings'], price, ...(dimensions !== undefined && { dimensions }) },
    });
    const answer = await embed({ model: 'm', input: ['a'], ...ask });
    if (expected === undefined) assert.equal(answer.status, 200, `${of}: ${answer.body}`);
    else assertError(answer, 'upstream_protocol_error', { message: expected, of });
    await assertBilled(rig, 7, of);
    assert.equal(setup.requests.length, 1, 'nobody is asked twice');
  }
});

test("vectors are not checked against dimensions that come from the target's defaults", async (t) => {
  const { embed } = await startTranslated(t, ollama, {
    family: 'ollama',
    upstream: native,
    target: { defaults: { dimensions: 3 } },
    model: { operations: ['embeddings'] },
  });
  assert.equal((await embed({ model: 'm', input: ['a'] })).status, 200);
});

test('clients of every API get a wrong width in their own error shape', async (t) => {
  const upstream = await startFakeUpstream(embedder);
  t.after(() => upstream.close());
  const common = { base_url: upstream.url, api_key: 'sk-upstream-secret-0123456789' };
  const rig = await startRig(t, {
    upstreams: [
      { id: 'openai', family: 'openai', ...common },
      { id: 'cohere', family: 'cohere', ...common },
    ],
    models: ['openai', 'cohere'].map((id) => ({
      ...{ id, operations: ['embeddings'], price, targets: [{ upstream: id, model: 'embed-v4.0' }] },
    })),
  });
  for (const [model, tokens] of [
    ['openai', 5],
    ['cohere', 7],
  ] as const) {
    for (const [path, body] of [
      ['/cohere/v2/embed', { model, texts: ['a'], input_type: 'search_query', output_dimension: 8 }],
      ['/ollama/api/embed', { model, input: 'a', dimensions: 8 }],
      ['/voyage/v1/embeddings', { model, input: 'a', output_dimension: 8 }],
      ['/jina/v1/embeddings', { model, input: ['a'], dimensions: 8 }],
      ['/mistral/v1/embeddings', { model, input: 'a', output_dimension: 8, encoding_format: 'base64' }],
      [`/model/${model}/invoke`, { inputText: 'a', dimensions: 8 }],
    ] as const) {
      const answer = await rig.post(path, body);
      assert.equal(answer.status, 502, `${path}: ${answer.body}`);
      assert.match(answer.body.toString(), /vectors of 4 numbers/, path);
      await assertBilled(rig, tokens, path);
    }
  }
});

async function startLists(t: TestContext, script: Handler, model: Readonly<Record<string, unknown>>, target = {}) {
  const pair = await startPair(t, script, { model: { operations: ['embeddings'], price, ...model }, target });
  return { ...pair, ask: (body: object) => pair.rig.post('/v1/embeddings', { model: 'm', ...body }) };
}

test('in split and cached lists a requested width is checked, and billed', async (t) => {
  const embeds: Handler = (request, reply) => reply.bytes(200, [json], embeddingsOf(inputsOf(request)));
  for (const [model, target] of [
    [{ cache: {} }, {}],
    [{ dedupe: true }, {}],
    [{}, { max_items: 2 }],
  ] as const) {
    const lists = await startLists(t, embeds, model, target);
    const good = await lists.ask({ input: ['a', 'bb', 'ccc'], dimensions: 3 });
    assert.equal(good.status, 200, good.body.toString());
    const wrong = await lists.ask({ input: ['a', 'bb', 'ccc', 'a'], dimensions: 4 });
    assertError(wrong, 'upstream_protocol_error', { message: /vectors of 3 numbers, and "dimensions" asks for 4/ });
    const { bill } = await lists.rig.exchange(2);
    assert.ok((bill?.costNanos ?? 0) >= 3_000, `${JSON.stringify(model)}: ${bill?.costNanos}`);
    assert.equal(bill?.isEstimated, false);
  }
});

const wide = (count: number, numbers: number): string => {
  const vector = `[${Array.from({ length: numbers }, (_, i) => `0.${i + 1_000}`)}]`;
  const data = Array.from(
    { length: count },
    (_, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`,
  );
  return `{"object":"list","data":[${data}],"usage":{"prompt_tokens":90,"total_tokens":90}}`;
};

test('in a long or chunked response the first vector is checked once it is available', async (t) => {
  const input = Array.from({ length: 40 }, (_, i) => `text ${i}`);
  for (const pieces of [1, 2] as const) {
    const whole = wide(input.length, 500);
    assert.ok(whole.length > 64 * 1024);
    const script: Handler = async (_request, reply) => {
      if (pieces === 1) return reply.bytes(200, [json], whole);
      const half = whole.length / 2;
      reply.raw(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${whole.length}\r\n\r\n`);
      reply.raw(whole.slice(0, half));
      await new Promise((resolve) => setTimeout(resolve, 50));
      reply.raw(whole.slice(half));
    };
    const { rig, ask, upstream } = await startLists(t, script, {});
    const good = await ask({ input, dimensions: 500 });
    assert.equal(good.body.toString(), whole);
    const wrong = await ask({ input, dimensions: 501 });
    assertError(wrong, 'upstream_protocol_error', { message: /vectors of 500 numbers, and "dimensions" asks for 501/ });
    await assertBilled(rig, 90, String(pieces));
    assert.equal(upstream.requests.length, 2);
  }
});

test('a client that disconnects while a long response is read holds no slot', async (t) => {
  const input = Array.from({ length: 40 }, (_, i) => `text ${i}`);
  const whole = wide(input.length, 500);
  const stalling: Handler = async (_request, reply) => {
    await reply.raw(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${whole.length}\r\n\r\n`);
    await reply.raw(whole.slice(0, 80_000));
  };
  const pair = await startPair(t, [stalling, (_request, reply) => reply.bytes(200, [json], whole)], {
    model: { operations: ['embeddings'], price, targets: [{ upstream: 'up' }] },
    upstream: { limits: { concurrency: 1, queue: 0 } },
  });
  const body = (dimensions: number): string => JSON.stringify({ model: 'm', input, dimensions });
  const client = await connect(pair.rig.port);
  await client.write(questionBytes(body(501)));
  await pair.upstream.nextRequest();
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.destroy();
  const { outcome, bill } = await pair.rig.exchange(1);
  assert.deepEqual([outcome, bill?.isEstimated], ['aborted', true]);
  assert.equal((await pair.rig.post('/v1/embeddings', body(500))).status, 200);
});

test('a first vector longer than the first piece of a response is passed on unchecked', async (t) => {
  const whole = wide(1, 30_000);
  const { ask } = await startLists(t, (_request, reply) => reply.bytes(200, [json], whole), {});
  const answer = await ask({ input: 'a', dimensions: 4 });
  assert.equal(answer.status, 200);
  assert.ok(answer.body.toString() === whole);
});
