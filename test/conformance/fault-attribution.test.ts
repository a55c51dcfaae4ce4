/** Fault attribution: a client's mistake puts no target into cooldown, and a loading server is recognised. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { atOnce } from '../../src/lib/time-slices.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { answering, refusingWith, resetting, type Several, startSeveral } from '../support/gateways/several.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const cooldownsIn = ({ rig }: Several): number =>
  rig.warnings.filter(({ message }) => message === 'target in cooldown').length;
const stateOf = ({ rig }: Several): string | undefined => atOnce(rig.app.targets())[0]?.state;
const send = ({ rig }: Several, input: unknown) => rig.post('/v1/embeddings', { model: 'm', input });

/** Fails on one client's requests, and serves all others. */
const failingOn =
  (poison: string, otherwise: Handler, status = 500): Handler =>
  (request, reply) =>
    request.body.includes(poison) ? refusingWith(status)(request, reply) : otherwise(request, reply);

test('repeated 500s to one request body cause no cooldown; 500s to different bodies do', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), answering('b')]);
  for (let n = 0; n < 8; n += 1) assert.equal((await send(setup, 'the same')).status, 200);
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[8, 8], 0]);
  for (let n = 0; n < 4; n += 1) await send(setup, `another ${n}`);
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[12, 12], 1]);
  await send(setup, 'one more');
  assert.deepEqual(setup.seen(), [12, 13]);
});

test('connection resets count at once, from any client', async (t) => {
  const setup = await startSeveral(t, [resetting, answering('b')]);
  for (let n = 0; n < 6; n += 1) await send(setup, 'the same');
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[5, 6], 1]);
});

test('if two targets fail alike on a request body, the body counts as the cause, and neither enters cooldown', async (t) => {
  const setup = await startSeveral(t, [failingOn('poison', answering('a')), failingOn('poison', answering('b'))]);
  for (let n = 0; n < 9; n += 1) assert.equal((await send(setup, `poison ${n}`)).status, 500);
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[9, 9], 0]);
  assert.deepEqual((await send(setup, 'good')).json(), { from: 'a' });
});

test('if a third target serves the request, the two targets that failed enter cooldown', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), refusingWith(500), answering('c')]);
  for (let n = 0; n < 6; n += 1) assert.equal((await send(setup, `text ${n}`)).status, 200);
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[5, 5, 6], 2]);
});

for (const status of [503, 529]) {
  test(`${status} to the same body takes a target out after five in a row, and no client sees an error`, async (t) => {
    const setup = await startSeveral(t, [refusingWith(status), answering('b')]);
    const startMs = performance.now();
    for (let n = 0; n < 30; n += 1) assert.equal((await send(setup, 'the same')).status, 200);
    // Its cooldown is over after a second: the same body may be its probe once another second has passed.
    const mostProbes = Math.ceil((performance.now() - startMs) / 2_000);
    assert.ok((setup.seen()[0] ?? 0) <= 5 + mostProbes, `${setup.seen()[0]} calls`);
    assert.equal(setup.seen()[1], 30);
  });
}

test('a target in cooldown for one request body is probed with a different body, and recovers', async (t) => {
  const setup = await startSeveral(t, [failingOn('poison', answering('a'), 503), answering('b')]);
  for (let n = 0; n < 7; n += 1) await send(setup, 'poison');
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[5, 7], 1]);
  await wait(1_050);
  await send(setup, 'poison');
  assert.deepEqual(setup.seen(), [5, 8]);
  assert.deepEqual((await send(setup, 'good')).json(), { from: 'a' });
  assert.deepEqual((await send(setup, 'another')).json(), { from: 'a' });
});

test('a success restarts the count of 503s that leads to cooldown', async (t) => {
  const setup = await startSeveral(t, [failingOn('poison', answering('a'), 503), answering('b')]);
  for (let n = 0; n < 12; n += 1) {
    await send(setup, 'poison');
    if (n % 4 === 3) await send(setup, 'good');
  }
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[15, 12], 0]);
});

test('two targets that both answer 503 to one body never enter cooldown', async (t) => {
  const setup = await startSeveral(t, [
    failingOn('poison', answering('a'), 503),
    failingOn('poison', answering('b'), 503),
  ]);
  for (let n = 0; n < 12; n += 1) assert.equal((await send(setup, 'poison')).status, 503);
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[12, 12], 0]);
  assert.deepEqual((await send(setup, 'good')).json(), { from: 'a' });
});

test("a target's cooldown caused by one body ends once another target fails on that body, too", async (t) => {
  const setup = await startSeveral(t, [failingOn('poison', answering('a'), 503), answering('b')]);
  for (let n = 0; n < 5; n += 1) await send(setup, 'poison');
  assert.equal(cooldownsIn(setup), 1);
  setup.upstreams[1]?.respondWith(failingOn('poison', answering('b'), 503));
  assert.equal((await send(setup, 'poison')).status, 503);
  assert.deepEqual(setup.seen(), [5, 6]);
  assert.deepEqual((await send(setup, 'good')).json(), { from: 'a' });
});

test('a target without an alternative never enters a cooldown for one body', async (t) => {
  const setup = await startSeveral(t, [refusingWith(503)], { model: { retry: { same_target: 0 } } });
  for (let n = 0; n < 8; n += 1) assert.equal((await send(setup, 'the same')).status, 503);
  assert.deepEqual([setup.seen(), cooldownsIn(setup), stateOf(setup)], [[8], 0, 'healthy']);
});

test('503 to different bodies counts against the service', async (t) => {
  const setup = await startSeveral(t, [refusingWith(503), refusingWith(503)]);
  for (let n = 0; n < 5; n += 1) await send(setup, `text ${n}`);
  assert.equal(cooldownsIn(setup), 2);
});

const parserFails: Handler = (_request, reply) =>
  reply.json(500, {
    error: {
      code: 500,
      message: '[json.exception.type_error.302] type must be string, but is null',
      type: 'server_error',
    },
  });

test('a known parser error of the upstream is returned as 400, without another target or a cooldown', async (t) => {
  const setup = await startSeveral(t, [parserFails, answering('b')], { upstream: [{ family: 'llamacpp' }, {}] });
  for (let n = 0; n < 8; n += 1) {
    const answer = await send(setup, [`text ${n}`]);
    assert.equal(answer.status, 400);
    assert.match(answer.body.toString(), /type must be string/);
  }
  assert.deepEqual([setup.seen(), cooldownsIn(setup)], [[8, 0], 0]);
});

const half = (input: string): Buffer => Buffer.from(`{"model":"m","input":"${input}"}`);

for (const family of ['llamacpp', 'infinity']) {
  test(`text with a lone surrogate is never sent to ${family}: another target gets it, or the client gets 400`, async (t) => {
    const alone = await startSeveral(t, [answering('a')], {
      upstream: { family },
      model: { operations: ['embeddings'] },
    });
    const refused = await alone.rig.post('/v1/embeddings', half('x \\ud800 y'));
    assertError(refused, 'unsupported_parameter', {
      param: 'input',
      message: /one half of a surrogate pair \(\\ud800\)/,
    });
    assert.equal((await alone.rig.post('/v1/embeddings', half('\\ud83d\\ude00'))).status, 200);
    assert.deepEqual(alone.seen(), [1]);
    const both = await startSeveral(t, [answering('a'), answering('b')], {
      upstream: [{ family }, {}],
      model: { operations: ['embeddings'] },
    });
    assert.deepEqual((await both.rig.post('/v1/embeddings', half('\\udc00'))).json(), { from: 'b' });
    assert.deepEqual(both.seen(), [0, 1]);
  });
}

const loading: Handler = (_request, reply) =>
  reply.json(503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } });

test('while a server loads its model, completions go to the next target, and the server is probed until ready', async (t) => {
  const setup = await startSeveral(t, [loading, answering('b')], {
    upstream: [{ family: 'llamacpp' }, {}],
    model: { operations: ['embeddings', 'completions'] },
  });
  assert.deepEqual((await setup.complete()).json(), { from: 'b' });
  assert.equal(stateOf(setup), 'loading');
  // One is enough, and it is left alone for a moment.
  assert.deepEqual((await setup.complete()).json(), { from: 'b' });
  assert.deepEqual(setup.seen(), [1, 2]);
  setup.upstreams[0]?.respondWith(answering('a'));
  const probed = async (): Promise<boolean> => JSON.stringify((await setup.complete()).json()) === '{"from":"a"}';
  await until(probed, { everyMs: 50 });
  assert.equal(stateOf(setup), 'healthy');
});

test("without another target, the client gets the loading server's 503, and the next request calls it again", async (t) => {
  const setup = await startSeveral(t, [loading], {
    upstream: { family: 'llamacpp' },
    model: { operations: ['completions'] },
  });
  const answer = await setup.complete();
  assert.equal(answer.status, 503);
  assert.match(answer.body.toString(), /Loading model/);
  assert.equal(stateOf(setup), 'loading');
  setup.upstreams[0]?.respondWith(answering('a'));
  assert.equal((await setup.complete()).status, 200);
});

test('after a 503 that does not say that the model is loading, a completion is not sent to another target', async (t) => {
  const setup = await startSeveral(t, [refusingWith(503), answering('b')], {
    upstream: [{ family: 'llamacpp' }, {}],
    model: { operations: ['completions'] },
  });
  assert.equal((await setup.complete()).status, 503);
  assert.deepEqual(setup.seen(), [1, 0]);
});

test("TEI's status 424 (failed backend) moves on to the next target, and is returned as 502 without one", async (t) => {
  const failed: Handler = (_request, reply) => reply.json(424, { error: 'inference failed', error_type: 'Backend' });
  const options = { upstream: [{ family: 'tei' }, {}], model: { operations: ['embeddings'] } };
  const both = await startSeveral(t, [failed, answering('b')], options);
  assert.deepEqual((await send(both, 'x')).json(), { from: 'b' });
  const alone = await startSeveral(t, [failed], options);
  const answer = await send(alone, 'x');
  assert.equal(answer.status, 502);
  assert.match(answer.body.toString(), /inference failed/);
});
