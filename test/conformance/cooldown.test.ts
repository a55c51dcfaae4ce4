/** Cooldown: a failing target is not called for a while, unless it has no alternative. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { assertError } from '../support/clients/error-answer.ts';
import { answering, refusingWith, resetting, type Several, startSeveral } from '../support/gateways/several.ts';
import { patiently } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

/** A lone target is asked again otherwise: see same-target.test.ts. */
const askedOnce = { model: { retry: { same_target: 0 } } };

async function embedTimes(setup: Several, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) assert.equal((await setup.embed()).status, 200);
}

test('a target that fails five times in a row is in cooldown, then probed by one request', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), answering('b')]);
  await embedTimes(setup, 8);
  assert.deepEqual(setup.seen(), [5, 8]);

  await wait(1_050); // the first rest takes a second at most
  await Promise.all(Array.from({ length: 6 }, () => setup.embed()));
  assert.deepEqual(setup.seen(), [6, 14], 'one probe, and nothing more while it is in cooldown again');
});

test('a target that recovers after its cooldown gets its share back', async (t) => {
  const setup = await startSeveral(t, [resetting, answering('b')]);
  await embedTimes(setup, 6);
  assert.deepEqual(setup.seen(), [5, 6]);
  setup.upstreams[0]?.respondWith(answering('a'));
  await wait(1_050);
  await embedTimes(setup, 4);
  assert.deepEqual(setup.seen(), [9, 6]);
});

test('a target that refuses connections enters cooldown after five calls, too', async (t) => {
  const setup = await startSeveral(t, [answering('a'), answering('b')]);
  await setup.upstreams[0]?.close();
  await embedTimes(setup, 8);
  assert.deepEqual(setup.seen(), [0, 8]);
  await setup.rig.exchange(8);
  const triedFirst = setup.rig.settled.filter(({ tries }) => tries.some(({ upstream }) => upstream === 'a'));
  assert.equal(triedFirst.length, 5);
});

test('a target without an alternative never enters cooldown', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500)], askedOnce);
  for (let i = 0; i < 12; i += 1) assert.equal((await setup.embed()).status, 500);
  assert.deepEqual(setup.seen(), [12]);
  setup.upstreams[0]?.respondWith(answering('a'));
  assert.equal((await setup.embed()).status, 200);
});

test('if all targets are in cooldown, one is called all the same', async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), refusingWith(500)]);
  for (let i = 0; i < 10; i += 1) assert.equal((await setup.embed()).status, 500);
  const [first = 0, second = 0] = setup.seen();
  assert.ok(first + second >= 15, `${first} and ${second} calls`);
  for (const upstream of setup.upstreams) upstream.respondWith(answering('again'));
  assert.equal((await setup.embed()).status, 200);
});

for (const status of [429, 503]) {
  test(`a Retry-After on ${status} is obeyed even without an alternative`, async (t) => {
    const setup = await startSeveral(t, [refusingWith(status, [['Retry-After', '1']])], askedOnce);
    const first = await setup.embed();
    assert.equal(first.status, status);
    assert.equal(first.header('retry-after'), '1');
    setup.upstreams[0]?.respondWith(answering('a'));

    const second = await setup.embed();
    // Where too many calls are all that is in the way, the client's own class for that.
    if (status === 429)
      assertError(second, 'rate_limit_exceeded', { message: /too many calls and asked for a pause; try again in 1 s/ });
    else assertError(second, 'no_upstream_available', { message: /asked for a pause; try again in 1 s/ });
    assert.equal(second.header('retry-after'), '1');
    assert.deepEqual(setup.seen(), [1]);
    const exchange = await setup.rig.exchange(2);
    assert.match(
      exchange.errorCause ?? '',
      new RegExp(`a: m: in cooldown for \\d.\\d s more \\(answered ${status}\\)`),
    );

    await wait(1_020);
    assert.equal((await setup.embed()).status, 200);
  });
}

test('a Retry-After of an hour is capped: the target is called again after a minute', async (t) => {
  const setup = await startSeveral(t, [refusingWith(503, [['Retry-After', '3600']])]);
  await setup.embed();
  const answer = await setup.embed();
  assertError(answer, 'no_upstream_available');
  const seconds = Number(answer.header('retry-after'));
  assert.ok(seconds > 50 && seconds <= 60, String(seconds));
});

const credentials = [{ api_key: 'sk-first-credential' }, { api_key: 'sk-second-credential' }];

/** Answers by the credential that comes. */
const byKey =
  (answers: Readonly<Record<string, Handler>>): Handler =>
  (request, reply) => {
    const key = request.header('authorization')?.slice('Bearer sk-'.length, -'-credential'.length) ?? '';
    return (answers[key] ?? answering(key))(request, reply);
  };

const withKeys = { upstream: { api_key: undefined, credentials } };

function keysSeen(setup: Several): string[] {
  return (setup.upstreams[0]?.requests ?? []).map(
    (request) => /sk-(\w+)-/.exec(request.header('authorization') ?? '')?.[1] ?? '',
  );
}

for (const status of [401, 403, 429]) {
  test(`a credential answered with ${status} enters cooldown alone, and the target's other credential is used`, async (t) => {
    const setup = await startSeveral(t, [byKey({ first: refusingWith(status) })], withKeys);
    await embedTimes(setup, 20);
    const firsts = keysSeen(setup).filter((key) => key === 'first').length;
    assert.ok(firsts <= 2, `${firsts} calls with the refused credential`);
    assert.equal(keysSeen(setup).length, 20 + firsts);
  });
}

test('completions also move to the next credential, because the rejected call did nothing', async (t) => {
  const setup = await startSeveral(t, [byKey({ first: refusingWith(401) })], withKeys);
  for (let i = 0; i < 10; i += 1) assert.equal((await setup.complete()).status, 200);
});

test('a credential that recovers is probed and used again', async (t) => {
  const setup = await startSeveral(t, [byKey({ first: refusingWith(401) })], withKeys);
  while (!keysSeen(setup).includes('first')) await embedTimes(setup, 1);
  setup.upstreams[0]?.respondWith(byKey({}));
  await wait(1_050);
  const before = keysSeen(setup).length;
  await embedTimes(setup, 30);
  const later = keysSeen(setup).slice(before);
  assert.ok(later.filter((key) => key === 'first').length >= 5, later.join(' '));
});

test('if every credential is rejected, the client sees the rejection', async (t) => {
  const setup = await startSeveral(t, [refusingWith(401)], withKeys);
  const answer = await setup.embed();
  assert.equal(answer.status, 401);
  assert.deepEqual(setup.seen(), [2]);
});

test('credentials share calls by weight', async (t) => {
  const setup = await startSeveral(t, [answering('a')], {
    upstream: { api_key: undefined, credentials: [{ ...credentials[0], weight: 9 }, credentials[1]] },
  });
  await embedTimes(setup, 200);
  const seconds = keysSeen(setup).filter((key) => key === 'second').length;
  assert.ok(seconds >= 4 && seconds <= 50, `${seconds} of 200 with a tenth of the weight`);
});

test('a health check takes a target out before a client notices, and restores it', async (t) => {
  let healthy = false;
  const script: Handler = (request, reply) => {
    if (request.method === 'GET') return reply.json(healthy ? 200 : 500, {});
    return reply.json(200, { from: 'a' });
  };
  const setup = await startSeveral(t, [script, answering('b')], {
    upstream: [{ health_check: { path: '/health', interval: patiently(25), timeout: patiently(25) } }, {}],
  });
  const from = async (): Promise<unknown> => (await setup.embed()).json();
  await until(async () => isDeepStrictEqual(await from(), { from: 'b' }));
  healthy = true;
  await until(async () => isDeepStrictEqual(await from(), { from: 'a' }));
});

test("retries are limited by an upstream's retry budget", async (t) => {
  const setup = await startSeveral(t, [refusingWith(500), refusingWith(500)]);
  const startedMs = performance.now();
  const requests = 200;
  await Promise.all(Array.from({ length: requests }, () => setup.embed()));
  const seconds = (performance.now() - startedMs) / 1000;
  for (const seen of setup.seen()) assert.ok(seen <= requests * 1.2 + 10 * seconds + 50, `${seen} calls`);
  const total = setup.seen().reduce((sum, seen) => sum + seen, 0);
  assert.ok(total > requests, 'some were repeated');
  assert.ok(total <= requests * 1.2 + 2 * (10 * seconds + 20), `${total} calls`);
});

test('a 429 for one model name of a pattern does not put other names in cooldown', async (t) => {
  const script: Handler = (request, reply) =>
    request.body.includes('"oa-small"')
      ? reply.json(429, { error: { message: 'too many' } }, [['Retry-After', '20']])
      : reply.json(200, { from: 'a' });
  const setup = await startSeveral(t, [script], { model: { id: 'oa-*' }, target: [{ model: 'oa-*' }] });
  const ask = (model: string) => setup.rig.post('/v1/embeddings', { model, input: 'x' });
  assert.equal((await ask('oa-small')).status, 429);
  const again = await ask('oa-small');
  assertError(again, 'rate_limit_exceeded', { message: /try again in 20 s/ });
  assert.equal(again.header('retry-after'), '20');
  assert.equal((await ask('oa-large')).status, 200);
  assert.equal((await ask('oa-small')).status, 429);
  assert.deepEqual(setup.seen(), [2]);
});

test('if one target is rate-limited and another failed, the error is no_upstream_available, not a 429', async (t) => {
  const setup = await startSeveral(t, [
    refusingWith(429, [['Retry-After', '20']]),
    refusingWith(503, [['Retry-After', '30']]),
  ]);
  await setup.embed();
  const answer = await setup.embed();
  assertError(answer, 'no_upstream_available');
  assert.equal(answer.header('retry-after'), '20');
});
