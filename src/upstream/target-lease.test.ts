import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routePlan, setup, target, untried, upstream } from '../../test/support/gateways/dispatching.ts';
import type { ClientWork } from '../core/outcome.ts';

test('a target that is loading a model is in cooldown, and probed again after each cooldown', () => {
  const { choose, changes, shares, clock } = setup(() => 0);
  const [a, b] = [target(upstream('a')), target(upstream('b'))];
  const where = routePlan([a], [b]);
  choose(routePlan([a])).loading('loading a model');
  assert.deepEqual([changes.length, changes[0]?.inCooldown, changes[0]?.why], [1, true, 'loading a model']);
  for (const cooldownMs of [1_000, 2_000, 4_000, 5_000]) {
    assert.deepEqual([...shares(where, 10).keys()], ['b']);
    clock.advance(cooldownMs);
    const probe = choose(where);
    assert.equal(probe.candidate.target, a, `nobody asked it again after ${cooldownMs} ms`);
    probe.loading('loading a model');
  }
});

test('a rate-limited credential is tried again after each cooldown', () => {
  const { choose, shares, clock } = setup(() => 0);
  const [a, b] = [target(upstream('a')), target(upstream('b'))];
  const where = routePlan([a], [b]);
  choose(routePlan([a])).limited('answered 429');
  for (const cooldownMs of [1_000, 2_000, 4_000]) {
    assert.deepEqual([...shares(where, 10).keys()], ['b']);
    clock.advance(cooldownMs);
    const probe = choose(where);
    assert.equal(probe.candidate.target, a, `nobody asked it again after ${cooldownMs} ms`);
    probe.limited('answered 429');
  }
});

test('a failure that starts no cooldown is not reported as a change', () => {
  const { choose, changes } = setup();
  const where = routePlan([target(upstream('a'))]);
  choose(where).failed('broken', 'wire');
  choose(where).served(1);
  assert.deepEqual(changes, []);
});

test('a success between failures restarts the count of failures', () => {
  const { choose, changes } = setup();
  const where = routePlan([target(upstream('a'))]);
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 4; n += 1) choose(where).failed('broken', 'wire');
    choose(where).served(1);
  }
  assert.deepEqual(changes, []);
});

test('a target is in cooldown when its answers keep breaking off', () => {
  const { choose, changes } = setup();
  const where = routePlan([target(upstream('a'))]);
  for (let n = 0; n < 10; n += 1) {
    const lease = choose(where);
    assert.equal(lease.enterAtOnce(), true);
    lease.served(1);
    lease.over({ code: 'upstream_unreachable', message: 'broken', cause: 'reset' });
  }
  assert.deepEqual([changes.length, changes[0]?.inCooldown, changes[0]?.why], [1, true, 'reset']);
});

const oneAtATime = { concurrency: 1, queue: 1, queueTimeoutMs: 60_000, bulkShare: 0.1 };

test('a call that has got its slot is no longer registered as waiting for its client', async () => {
  const { choose } = setup();
  const where = routePlan([target(upstream('a', { limits: oneAtATime }))]);
  const client: { gone: boolean; work: ClientWork | undefined } = { gone: false, work: undefined };
  const first = choose(where);
  assert.equal(first.enter({ gone: false, work: undefined }, performance.now() + 60_000), 'entered');
  const second = choose(where);
  const entry = second.enter(client, performance.now() + 60_000);
  assert.equal(client.work, second);
  first.dropped();
  first.over(undefined);
  assert.equal(await entry, 'entered');
  assert.equal(client.work, undefined);
  second.withdraw();
});

const timersNow = (): number => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;

test('a call that needs a slot at once does not wait', () => {
  const { choose } = setup();
  const where = routePlan([target(upstream('a', { limits: oneAtATime }))]);
  const first = choose(where);
  assert.equal(first.enterAtOnce(), true);
  const timers = timersNow();
  const second = choose(where);
  assert.equal(second.enterAtOnce(), false);
  assert.equal(timersNow(), timers);
  first.dropped();
  first.over(undefined);
  assert.equal(choose(where).enterAtOnce(), true);
});

test('an additional slot of a target lease is released once, however often its end is reported', () => {
  const { choose, nobody } = setup();
  const where = routePlan([
    target(upstream('a', { limits: { concurrency: 2, queue: 0, queueTimeoutMs: 0, bulkShare: 0.1 } })),
  ]);
  const lease = choose(where);
  assert.equal(lease.enter({ gone: false, work: undefined }, 0), 'entered');
  const further = lease.enterAgain();
  assert.ok(further !== undefined);
  assert.equal(lease.enterAgain(), undefined, 'there are two slots');
  assert.equal(nobody(where, untried()).kind, 'full');
  further.over(undefined);
  further.over(undefined);
  const other = lease.enterAgain();
  assert.ok(other !== undefined, 'its slot was not released');
  assert.equal(lease.enterAgain(), undefined, 'it was given back twice');
});
