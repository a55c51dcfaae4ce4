/** Answers that are translated are read whole, in a budget of memory of their own: it is held until the client has what was made of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { assertError } from '../support/clients/error-answer.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes } from '../support/gateways/pair.ts';
import { startSeveral } from '../support/gateways/several.ts';
import { startTranslated, type Translated } from '../support/gateways/translated.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { embeds, inputsOf } from '../support/upstreams/list-service.ts';

const KiB = 1024;
/** 2 MiB for all answers; half a MiB for a key, and beside it one that is longer. An answer counts twice while it is read. */
const server = { body_limit: '1MiB', body_memory: '2MiB', body_wait: '30ms' };
const question = '{"model":"m","input":"x"}';

const held = ({ rig }: Pick<Translated, 'rig'>): number => rig.app.memory().answers.heldBytes;

/** One vector that is about so long as text. */
function vectorOf(bytes: number): Buffer {
  const numbers = new Array(Math.floor(bytes / 4)).fill('0.1').join(',');
  const meta = { api_version: { version: '2' }, billed_units: { input_tokens: 1 } };
  return Buffer.from(`{"id":"e","embeddings":{"float":[[${numbers}]]},"texts":["x"],"meta":${JSON.stringify(meta)}}`);
}

const json: [string, string] = ['content-type', 'application/json'];

/** Announces an answer, and holds it back until it is released. */
function gated(bytes: number): { readonly script: Handler; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const body = vectorOf(bytes);
  return {
    script: async (_request, reply) => {
      await reply.head(200, [json, ['content-length', String(body.length)]]);
      await promise;
      await reply.raw(body);
    },
    open: resolve,
  };
}

test('memory for a response is reserved before reading, and released when the client has the result', async (t) => {
  const { script, open } = gated(150 * KiB);
  const setup = await startTranslated(t, script, { server });
  const answer = setup.embed(question);
  await until(() => held(setup) >= 300 * KiB);
  assert.equal(setup.rig.app.memory().requests.heldBytes < KiB, true, 'the request has a budget of its own');
  open();
  assert.equal((await answer).status, 200);
  await until(() => held(setup) === 0);
});

test('if no memory is free in time the client gets an error, no other target is called, and nothing leaks', async (t) => {
  const first = gated(200 * KiB);
  const setup = await startTranslated(t, first.script, { server });
  const holding = setup.embed(question);
  await until(() => held(setup) >= 400 * KiB);
  const second = gated(100 * KiB);
  setup.upstream.respondWith(second.script);
  const refused = await setup.embed(question);
  assertError(refused, 'overloaded', { message: /answers that are translated \(server\.body_memory\)/ });
  assert.equal(refused.header('retry-after'), '1');
  assert.equal(setup.upstream.requests.length, 2);
  assert.equal(setup.rig.app.memory().answers.refused, 1);
  first.open();
  assert.equal((await holding).status, 200);
  await until(() => held(setup) === 0);
  second.open();
});

test('a response that waits for memory is read once another response has ended', async (t) => {
  const first = gated(200 * KiB);
  const setup = await startTranslated(t, first.script, { server: { ...server, body_wait: '25s' } });
  const holding = setup.embed(question);
  await until(() => held(setup) >= 400 * KiB);
  setup.upstream.respondWith((_request, reply) => reply.bytes(200, [json], vectorOf(100 * KiB)));
  const waiting = setup.embed(question);
  await until(() => setup.rig.app.memory().answers.waiting === 1);
  first.open();
  assert.equal((await holding).status, 200);
  assert.equal((await waiting).status, 200);
  await until(() => held(setup) === 0);
});

test('a client that disconnects while its response waits or is read leaves no memory reserved', async (t) => {
  const first = gated(200 * KiB);
  const setup = await startTranslated(t, first.script, { server: { ...server, body_wait: '25s' } });
  const reading = await connect(setup.rig.port);
  await reading.write(questionBytes(question));
  await until(() => held(setup) >= 400 * KiB);
  const waiting = await connect(setup.rig.port);
  await waiting.write(questionBytes(question));
  await until(() => setup.rig.app.memory().answers.waiting === 1);
  waiting.destroy();
  await until(() => setup.rig.app.memory().answers.waiting === 0);
  reading.destroy();
  await until(() => held(setup) === 0);
  first.open();
});

test('a response counts by its uncompressed size, and ends with 503 beyond the memory', async (t) => {
  const body = vectorOf(1200 * KiB);
  const scripts: Handler[] = [
    async (_request, reply) => {
      await reply.head(200, [json, ['transfer-encoding', 'chunked']]);
      for (let at = 0; at < body.length; at += 64 * KiB) await reply.chunk(body.subarray(at, at + 64 * KiB));
      await reply.lastChunk();
    },
    (_request, reply) => reply.bytes(200, [json, ['content-encoding', 'gzip']], gzipSync(body)),
  ];
  for (const script of scripts) {
    const holding = gated(300 * KiB);
    const setup = await startTranslated(t, script, { server });
    assert.equal((await setup.embed(question)).status, 200, 'one always passes');
    await until(() => held(setup) === 0);
    // One that is longer than the share of its key, and half of all.
    setup.upstream.respondWith(holding.script);
    const other = setup.embed(question);
    await until(() => held(setup) >= 600 * KiB);
    setup.upstream.respondWith(script);
    assertError(await setup.embed(question), 'overloaded', { message: /no memory left to translate its answer/ });
    assert.equal(setup.upstream.requests.length, 3);
    holding.open();
    assert.equal((await other).status, 200);
    await until(() => held(setup) === 0);
  }
});

test('a client that does not read its response is disconnected, and its memory released', async (t) => {
  // More than the kernel takes of it.
  const body = vectorOf(12 * 1024 * KiB);
  const script: Handler = (_request, reply) => reply.bytes(200, [json], body);
  const roomy = { body_limit: '8MiB', body_memory: '64MiB', timeouts: { request: '1s' } };
  const setup = await startTranslated(t, script, { server: roomy });
  const client = await connect(setup.rig.port);
  client.pause();
  await client.write(questionBytes(question));
  assert.equal((await setup.rig.exchange()).status, 200);
  assert.ok(held(setup) >= body.length / 2, 'it is done for us, and not for the client');
  await until(() => held(setup) === 0);
  client.destroy();
});

test('a combined call of several clients that breaks off releases its response memory', async (t) => {
  const script: Handler = async (request, reply) => {
    if (inputsOf(request).length === 1) return embeds(request, reply);
    await reply.head(200, [json, ['content-length', '90']]);
    await reply.raw('{"object":"list",');
    return reply.reset();
  };
  const model = { operations: ['embeddings'], coalesce: { window: '100ms' } };
  const setup = await startSeveral(t, [script], { model });
  await setup.embed();
  const answers = await Promise.all([setup.embed(), setup.embed()]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.ok((setup.seen()[0] ?? 0) > 3, 'they were asked for together first');
  await until(() => held(setup) === 0);
});

test('shadow calls release their response memory when they end', async (t) => {
  const setup = await startSeveral(t, [embeds, embeds], {
    upstream: { family: 'tei', options: { max_items: 1 } },
    model: { operations: ['embeddings'], targets: [{ upstream: 'a' }], shadow: { model: 'next', share: 1 } },
    models: [{ id: 'next', operations: ['embeddings'], targets: [{ upstream: 'b' }] }],
  });
  await setup.rig.post('/v1/embeddings', { model: 'm', input: ['a', 'b'] });
  await until(() => setup.rig.app.drift.state().shadows[0]?.compared === 1);
  await until(() => held(setup) === 0);
});

test('two calls of a request that wait for memory at once leave none of it reserved', async (t) => {
  const first = gated(200 * KiB);
  const later: Handler = (_request, reply) => reply.bytes(200, [json], vectorOf(100 * KiB));
  const setup = await startSeveral(t, [later, later, first.script], {
    server: { ...server, body_wait: '25s' },
    upstream: { family: 'cohere' },
    model: {
      operations: ['embeddings'],
      hedge: { after: '5ms' },
      targets: [{ upstream: 'a' }, { upstream: 'b', priority: 1 }],
    },
    models: [{ id: 'other', operations: ['embeddings'], targets: [{ upstream: 'c' }] }],
  });
  const ask = (model: string) => setup.rig.post('/v1/embeddings', { model, input: 'x' });
  const holding = ask('other');
  await until(() => held(setup) >= 400 * KiB);
  const waiting = ask('m');
  await until(() => setup.rig.app.memory().answers.waiting === 2);
  first.open();
  assert.deepEqual([(await holding).status, (await waiting).status], [200, 200]);
  await until(() => held(setup) === 0);
});
