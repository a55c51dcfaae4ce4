/** Drift checks: whether a model changed, and agrees with another one, without an effect on answers. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canaryBaseline } from '../../src/core/drift.ts';
import type { Rig } from '../support/gateways/rig.ts';
import { startSeveral } from '../support/gateways/several.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { embeds, inputsOf, json, ranks } from '../support/upstreams/list-service.ts';

/** Turned a little, or by a right angle. */
const embedsAs =
  (vectorOf: (text: string) => readonly number[]): Handler =>
  (request, reply) => {
    const data = inputsOf(request).map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
    return reply.bytes(200, json, JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 1 } }));
  };

const shadowed = (share: number) => ({
  operations: ['embeddings', 'rerank'],
  targets: [{ upstream: 'a' }],
  shadow: { model: 'next', share },
});
const next = { id: 'next', operations: ['embeddings', 'rerank'], targets: [{ upstream: 'b', model: 'newer' }] };

const shadowOf = ({ app }: Rig) => app.drift.state().shadows[0];

test('a share of requests is copied to another model after the response, and both answers are compared', async (t) => {
  const here = embedsAs((text) => [text.length, 1, 0]);
  const there: Handler = (request, reply) =>
    request.path.endsWith('rerank') ? ranks(request, reply) : embedsAs((text) => [0, 1, text.length])(request, reply);
  const script: Handler = (request, reply) =>
    request.path.endsWith('rerank') ? ranks(request, reply) : here(request, reply);
  const { rig, upstreams } = await startSeveral(t, [script, there], { model: shadowed(1), models: [next] });
  const answer = await rig.post('/v1/embeddings', { model: 'm', input: ['a', 'bb'] });
  assert.equal(answer.header('x-postern-upstream'), 'a');
  await until(() => shadowOf(rig)?.compared === 1);
  const [copy] = upstreams[1]?.requests ?? [];
  assert.equal(copy?.body.toString(), '{"model":"newer","input":["a","bb"]}');
  assert.equal(copy?.header('x-api-key'), undefined);
  assert.ok(Math.abs((shadowOf(rig)?.cosine ?? 0) - (1 / 2 + 1 / 5) / 2) < 1e-9);
  await rig.post('/v1/rerank', { model: 'm', query: 'q', documents: ['a', 'ccc', 'bb'] });
  await until(() => shadowOf(rig)?.compared === 2);
  assert.equal(shadowOf(rig)?.ranks, 1);
  await until(() => rig.settled.length === 2);
});

test('vector spaces of different width are compared by nearest neighbours', async (t) => {
  const here = embedsAs((text) => [Math.sin(Number(text)), Math.cos(Number(text))]);
  const there = embedsAs((text) => [Math.sin(Number(text)), Math.cos(Number(text)), 0]);
  const { rig } = await startSeveral(t, [here, there], { model: shadowed(1), models: [next] });
  await rig.post('/v1/embeddings', { model: 'm', input: Array.from({ length: 30 }, (_, index) => String(index)) });
  await until(() => shadowOf(rig)?.compared === 1);
  assert.deepEqual([shadowOf(rig)?.cosine, shadowOf(rig)?.overlap], [null, 1]);
});

test('a failed shadow request does not affect the client, and share 0 copies nothing', async (t) => {
  const down: Handler = (_request, reply) => reply.reset();
  const failing = await startSeveral(t, [embeds, down], { model: shadowed(1), models: [next] });
  assert.equal((await failing.rig.post('/v1/embeddings', { model: 'm', input: 'a' })).status, 200);
  await until(() => shadowOf(failing.rig)?.failed === 1);
  const none = await startSeveral(t, [embeds, embeds], { model: shadowed(0), models: [next] });
  assert.equal((await none.rig.post('/v1/embeddings', { model: 'm', input: 'a' })).status, 200);
  assert.deepEqual(none.rig.app.drift.state().shadows, []);
  assert.equal(none.upstreams[1]?.requests.length, 0);
});

test('canary texts are sent in as many calls as the upstream needs, and never cached', async (t) => {
  const { rig, upstreams } = await startSeveral(t, [embedsAs((text) => [text.length, 1])], {
    upstream: { family: 'tei', options: { max_items: 1 } },
    model: { operations: ['embeddings'], cache: {}, canary: { texts: ['one', 'three'], every: '1s' } },
  });
  await until(() => (upstreams[0]?.requests.length ?? 0) >= 4);
  const asked = new Set(upstreams[0]?.requests.map((request) => inputsOf(request).join()));
  assert.deepEqual([...asked].toSorted(), ['one', 'three']);
  await until(() => rig.app.drift.state().canaries[0]?.agreement === 1);
});

test('canary texts detect that an upstream changed its model, and changed it back', async (t) => {
  let vectorOf = (text: string): number[] => [text.length, 1, 0];
  const script: Handler = (request, reply) => embedsAs((text) => vectorOf(text))(request, reply);
  const { rig, upstreams } = await startSeveral(t, [script], {
    model: { operations: ['embeddings'], canary: { texts: ['one', 'three'], every: '1s' } },
  });
  const stateOf = () => rig.app.drift.state().canaries[0];
  await until(() => stateOf()?.agreement === 1);
  assert.deepEqual(inputsOf(upstreams[0]?.requests[0] ?? assert.fail()), ['one', 'three']);
  assert.notEqual(await rig.store.settings.get(canaryBaseline('m', 'a', 'm')), undefined);
  vectorOf = (text) => [0, 1, text.length];
  await until(() => stateOf()?.hasChanged === true);
  assert.ok((stateOf()?.agreement ?? 1) < 0.5);
  assert.equal(rig.warnings.filter(({ message }) => message === 'embedding drift detected').length, 1);
  vectorOf = (text) => [text.length, 1, 0];
  await until(() => stateOf()?.hasChanged === false);
});
