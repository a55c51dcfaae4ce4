/** Targets of several families behind one model: one that cannot serve a request, or answers something unusable, leaves it to the next. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { answering, refusingWith, type SeveralOptions, silent, startSeveral } from '../support/gateways/several.ts';
import { cohereAnswer, cohereEmbeds, jsonIn, openaiEmbeds, vectorsIn } from '../support/gateways/translated.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const families = (first: string, second: string, more: SeveralOptions = {}): SeveralOptions => ({
  ...more,
  model: { operations: ['embeddings'], ...more.model },
  upstream: [{ family: first }, { family: second }],
});

const strange = { model: 'm', input: '7', frobnicate: 1 };

test('a target that lacks a parameter leaves the request to one that has it', async (t) => {
  const setup = await startSeveral(t, [openaiEmbeds, openaiEmbeds], families('mistral', 'openai'));
  const answer = await setup.rig.post('/v1/embeddings', strange);
  assert.deepEqual(vectorsIn(answer), [[7, 0.5]]);
  assert.deepEqual(setup.seen(), [0, 1]);
  assert.equal(answer.header('x-postern-attempts'), '1');
  assert.equal(answer.header('x-postern-upstream'), 'b');
  assert.equal(answer.header('x-postern-translated'), undefined);
  assert.equal(setup.upstreams[1]?.requests[0]?.body.toString(), JSON.stringify(strange));
  assert.deepEqual((await setup.rig.exchange()).tries, []);
});

test("a parameter that no target supports is refused by name, in the first target's words", async (t) => {
  const setup = await startSeveral(t, [openaiEmbeds, openaiEmbeds], families('mistral', 'mistral'));
  const answer = await setup.rig.post('/v1/embeddings', strange);
  assertError(answer, 'unsupported_parameter', { param: 'frobnicate', message: /the upstream "a"/ });
  assert.deepEqual(setup.seen(), [0, 0]);
  assert.equal((await setup.rig.exchange()).errorCode, 'unsupported_parameter');
  // No target is put in cooldown for it.
  assert.equal((await setup.embed()).status, 502);
  assert.deepEqual(setup.seen(), [1, 1]);
});

test('if the only target that supports a parameter is saturated, the error is overloaded, not unsupported', async (t) => {
  const setup = await startSeveral(t, [openaiEmbeds, silent], {
    model: { operations: ['embeddings'] },
    upstream: [{ family: 'mistral' }, { limits: { concurrency: 1, queue: 0 } }],
  });
  const first = setup.rig.post('/v1/embeddings', strange).catch(() => undefined);
  await setup.upstreams[1]?.nextRequest();
  const answer = await setup.rig.post('/v1/embeddings', strange);
  assertError(answer, 'overloaded', { message: /queues are full/ });
  await setup.upstreams[1]?.close();
  await first;
});

test('if the only target that supports a parameter times out in its queue, the error is not "unsupported"', async (t) => {
  const setup = await startSeveral(t, [openaiEmbeds, silent], {
    model: { operations: ['embeddings'] },
    upstream: [{ family: 'mistral' }, { limits: { concurrency: 1, queue: 1, queue_timeout: patiently(12.5) } }],
  });
  const first = setup.rig.post('/v1/embeddings', strange).catch(() => undefined);
  await setup.upstreams[1]?.nextRequest();
  assertError(await setup.rig.post('/v1/embeddings', strange), 'overloaded');
  await setup.upstreams[1]?.close();
  await first;
});

test("the error of a target that supports a parameter is returned rather than another target's refusal of it", async (t) => {
  const setup = await startSeveral(t, [openaiEmbeds, refusingWith(503)], families('mistral', 'openai'));
  const answer = await setup.rig.post('/v1/embeddings', strange);
  assert.equal(answer.status, 503);
  assert.deepEqual(answer.json(), { error: { message: 'no 503' } });
});

test('a response that does not match the request moves on to the next target', async (t) => {
  const wrong: Handler = (request, reply) => reply.json(200, { ...cohereAnswer(request), embeddings: { float: [] } });
  const setup = await startSeveral(t, [wrong, openaiEmbeds], families('cohere', 'openai'));
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: '7' });
  assert.deepEqual(vectorsIn(answer), [[7, 0.5]]);
  assert.equal(answer.header('x-postern-translated'), undefined);
  const { tries } = await setup.rig.exchange();
  assert.deepEqual(
    tries.map(({ upstream, outcome, detail }) => [upstream, outcome, detail]),
    [
      ['a', 'unknown', '0 vectors for 1 inputs'],
      ['b', 'answered', 200],
    ],
  );
});

test('each target gets the request in its own format', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), cohereEmbeds], {
    ...families('jina', 'cohere', { model: { space: 'one' } }),
    target: [{ model: 'j' }, { model: 'c', defaults: { input_type: 'search_query' } }],
  });
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: ['abc'], dimensions: 2 });
  assert.deepEqual(vectorsIn(answer), [[3, 0.5]]);
  assert.equal(answer.header('x-postern-translated'), 'cohere');
  const [first, second] = setup.upstreams.map(({ requests: [request] }) => request && jsonIn(request));
  assert.deepEqual(first, { model: 'j', input: ['abc'], dimensions: 2 });
  assert.deepEqual(second, {
    input_type: 'search_query',
    model: 'c',
    texts: ['abc'],
    embedding_types: ['float'],
    output_dimension: 2,
  });
});

test("Cohere's status 499 moves on to the next target, and 498 is returned as 400", async (t) => {
  const cancelled = await startSeveral(t, [refusingWith(499), openaiEmbeds], families('cohere', 'openai'));
  const answer = await cancelled.rig.post('/v1/embeddings', { model: 'm', input: '7' });
  assert.equal(answer.header('x-postern-upstream'), 'b');
  const denied = await startSeveral(t, [refusingWith(498), openaiEmbeds], families('cohere', 'openai'));
  assert.equal((await denied.rig.post('/v1/embeddings', { model: 'm', input: '7' })).status, 400);
  assert.deepEqual(denied.seen(), [1, 0]);
});

test('the second target answers if the first is slow, across families', async (t) => {
  const setup = await startSeveral(t, [silent, openaiEmbeds], {
    ...families('cohere', 'openai'),
    model: { operations: ['embeddings'], hedge: { after: patiently(10) } },
  });
  const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input: '7' });
  assert.deepEqual(vectorsIn(answer), [[7, 0.5]]);
  assert.equal(answer.header('x-postern-attempts'), '2');
});

test('a hedged target that cannot serve the request does not disturb the first', async (t) => {
  const late: Handler = async (request, reply) => {
    await reply.sleep(patientMs(30));
    await openaiEmbeds(request, reply);
  };
  const setup = await startSeveral(t, [late, answering('b')], {
    ...families('openai', 'mistral'),
    model: { operations: ['embeddings'], hedge: { after: patiently(7.5) } },
  });
  const answer = await setup.rig.post('/v1/embeddings', strange);
  assert.deepEqual(vectorsIn(answer), [[7, 0.5]]);
  assert.equal(answer.header('x-postern-attempts'), '1');
  assert.deepEqual(setup.seen(), [1, 0]);
});

test('completions are not repeated once a byte was sent, embeddings are', async (t) => {
  const broken: Handler = (_request, reply) => reply.json(200, { choices: 'none' });
  const setup = await startSeveral(t, [broken, answering('b')], {
    model: { operations: ['completions'] },
    upstream: [{ family: 'openai' }, { family: 'openai' }],
    target: [{ bridge: 'chat' }, {}],
  });
  assertError(await setup.complete(), 'upstream_protocol_error', { message: /does not fit/ });
  assert.deepEqual(setup.seen(), [1, 0]);
});
