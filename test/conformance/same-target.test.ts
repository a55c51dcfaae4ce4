/** A failed call is repeated at the same target: if no other is left, or as often as configured. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering, refusingWith, resetting, type Several, startSeveral } from '../support/gateways/several.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

/** Fails so often, and works then. */
function failingTimes(times: number, failure: Handler, then: Handler = answering('a')): Handler {
  let left = times;
  return (request, reply) => {
    left -= 1;
    return left >= 0 ? failure(request, reply) : then(request, reply);
  };
}

const triesOf = async ({ rig }: Several, exchanges = 1): Promise<unknown[]> =>
  (await rig.exchange(exchanges)).tries.map(({ outcome, detail }) => [outcome, detail]);

const requests: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  embeddings: { input: 'x' },
  rerank: { query: 'x', documents: ['y'] },
  moderations: { input: 'x' },
};

for (const [operation, body] of Object.entries(requests)) {
  test(`${operation}: a single target that answers 500 once is retried, and the row has both calls`, async (t) => {
    const setup = await startSeveral(t, [failingTimes(1, refusingWith(500))]);
    const answer = await setup.rig.post(`/v1/${operation}`, { model: 'm', ...body });
    assert.equal(answer.status, 200);
    assert.deepEqual(setup.seen(), [2]);
    assert.deepEqual(await triesOf(setup), [
      ['failed', 500],
      ['answered', 200],
    ]);
    assert.equal((await setup.rig.exchange(1)).attempts, 2);
  });
}

for (const status of [429, 502, 503, 529]) {
  test(`a single target that answers ${status} once is retried`, async (t) => {
    const setup = await startSeveral(t, [failingTimes(1, refusingWith(status))]);
    assert.equal((await setup.embed()).status, 200);
    assert.deepEqual(setup.seen(), [2]);
  });
}

test('a single target that fails twice is called twice, and the client gets its response', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500)]);
  const answer = await setup.embed();
  assert.deepEqual([answer.status, setup.seen()], [500, [2]]);
  assert.match(answer.body.toString(), /no 500/);
});

test('a call that could not connect to the only target is repeated', async (t) => {
  const setup = await startSeveral(t, [answering('a')]);
  await setup.upstreams[0]?.close();
  assert.equal((await setup.embed()).status, 502);
  assert.deepEqual(
    (await triesOf(setup)).map((one) => (Array.isArray(one) ? one[0] : one)),
    ['not-sent', 'not-sent'],
  );
});

for (const [name, failure, status] of [
  ['504', refusingWith(504), 504],
  ['a reset', resetting, 502],
  ['501', refusingWith(501), 501],
  ['400', refusingWith(400), 400],
] as const) {
  test(`after ${name} a single target is not retried`, async (t) => {
    const setup = await startSeveral(t, [failure]);
    assert.equal((await setup.embed()).status, status);
    assert.deepEqual(setup.seen(), [1]);
  });
}

test('completions are not repeated after an error', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500)]);
  assert.equal((await setup.complete()).status, 500);
  assert.deepEqual(setup.seen(), [1]);
});

test('with retry: always a possibly served call is repeated, and billed by an estimate', async (t) => {
  const usage = { prompt_tokens: 7, total_tokens: 7 };
  const served: Handler = (_request, reply) => reply.json(200, { data: [{ embedding: [1] }], usage });
  const setup = await startSeveral(t, [failingTimes(1, resetting, served)], {
    model: { retry: 'always', operations: ['embeddings'], price: { input: '1' } },
  });
  assert.equal((await setup.rig.post('/v1/embeddings', { model: 'm', input: 'x'.repeat(400) })).status, 200);
  assert.deepEqual(setup.seen(), [2]);
  const { bill } = await setup.rig.exchange(1);
  assert.deepEqual([bill?.inputTokens, bill?.costNanos, bill?.isEstimated], [107, 107_000, true]);
});

test('an error response costs nothing when the call is repeated', async (t) => {
  const usage = { prompt_tokens: 7, total_tokens: 7 };
  const served: Handler = (_request, reply) => reply.json(200, { data: [{ embedding: [1] }], usage });
  const setup = await startSeveral(t, [failingTimes(1, refusingWith(500), served)], {
    model: { operations: ['embeddings'], price: { input: '1' } },
  });
  await setup.embed();
  const { bill } = await setup.rig.exchange(1);
  assert.deepEqual([bill?.inputTokens, bill?.isEstimated], [7, false]);
});

test('Retry-After is obeyed: the target is retried afterwards, and not at all beyond 5 s', async (t) => {
  const short = await startSeveral(t, [failingTimes(1, refusingWith(429, [['Retry-After', '1']]))]);
  const beganMs = performance.now();
  assert.equal((await short.embed()).status, 200);
  assert.ok(performance.now() - beganMs >= 1_000);
  const long = await startSeveral(t, [failingTimes(1, refusingWith(429, [['Retry-After', '6']]))]);
  const answer = await long.embed();
  assert.deepEqual([answer.status, answer.header('retry-after'), long.seen()], [429, '6', [1]]);
});

test('with two failing targets, each is called once', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), refusingWith(500)]);
  assert.equal((await setup.embed()).status, 500);
  assert.deepEqual(setup.seen(), [1, 1]);
});

test('same_target: 2 calls each target three times before the next', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), failingTimes(1, refusingWith(503), answering('b'))], {
    model: { retry: { same_target: 2 } },
  });
  assert.deepEqual((await setup.embed()).json(), { from: 'b' });
  assert.deepEqual(setup.seen(), [3, 2]);
});

test('same_target: 2 repeats completions after 429, and not after an error', async (t) => {
  const setup = await startSeveral(t, [failingTimes(2, refusingWith(429))], { model: { retry: { same_target: 2 } } });
  assert.equal((await setup.complete()).status, 200);
  assert.deepEqual(setup.seen(), [3]);
  setup.upstreams[0]?.respondWith(refusingWith(503));
  assert.equal((await setup.complete()).status, 503);
  assert.deepEqual(setup.seen(), [4]);
});

test('same_target: 0 and attempts: 1 each limit a single target to one call', async (t) => {
  for (const retry of [{ same_target: 0 }, { attempts: 1 }]) {
    const setup = await startSeveral(t, [refusingWith(500)], { model: { retry } });
    assert.equal((await setup.embed()).status, 500);
    assert.deepEqual(setup.seen(), [1]);
  }
});

test('retries of the same target are limited by the retry budget', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500)]);
  const beganMs = performance.now();
  const sent = 100;
  await Promise.all(Array.from({ length: sent }, () => setup.embed()));
  const seconds = (performance.now() - beganMs) / 1_000;
  const [seen = 0] = setup.seen();
  assert.ok(seen > sent && seen <= sent * 1.2 + 10 * seconds + 50, `${seen} calls in ${seconds} s`);
});

const vectors: Handler = (request, reply) => {
  const { input } = JSON.parse(request.body.toString()) as { input: readonly string[] };
  const data = input.map((_, index) => ({ object: 'embedding', index, embedding: [1, 2] }));
  return reply.json(200, { object: 'list', data, model: 'm', usage: { prompt_tokens: input.length } });
};

test('a failed part of a list is retried once, with one target and with two failing ones', async (t) => {
  const input = Array.from({ length: 10 }, (_, index) => `text ${index}`);
  const poisoned = (times: number): Handler => {
    let left = times;
    return (request, reply) => {
      if (!request.body.includes('text 7') || left <= 0) return vectors(request, reply);
      left -= 1;
      return refusingWith(500)(request, reply);
    };
  };
  for (const scripts of [[poisoned(1)], [poisoned(1), poisoned(1)]]) {
    const setup = await startSeveral(t, scripts, {
      model: { operations: ['embeddings'] },
      target: scripts.map(() => ({ max_items: 1 })),
    });
    const answer = await setup.rig.post('/v1/embeddings', { model: 'm', input });
    assert.equal(answer.status, 200);
    assert.equal(
      setup.seen().reduce((sum, seen) => sum + seen, 0),
      10 + scripts.length,
    );
  }
});
