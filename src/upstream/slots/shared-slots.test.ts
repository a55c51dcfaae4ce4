import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import type { SlotArbiter, SlotClaim, SlotGrant } from '../../core/slots.ts';
import { SharedSlots } from './shared-slots.ts';
import { Slots } from './slots.ts';

const limits = { concurrency: 4, queueTimeoutMs: 60_000, bulkShare: 0.1 };
const call = { lane: 'interactive', project: 'a project', key: 'a key', work: 1 } as const;
const silent = () => ({ ...call, entered: () => undefined, timedOut: () => undefined });

/** A slot arbiter with the test's answers, which records its claims. */
function setUp(t: TestContext, answer: (claim: SlotClaim) => SlotGrant, queue = 0, isThere = true) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const asked: SlotClaim[] = [];
  const state = { isThere };
  const arbiter: SlotArbiter = {
    get isThere() {
      return state.isThere;
    },
    nodes: 2,
    claim(claims: readonly SlotClaim[]): Promise<readonly SlotGrant[]> {
      asked.push(...claims);
      return new Promise((resolve) => resolve(claims.map(answer)));
    },
  };
  const shared = new SharedSlots(arbiter);
  t.after(() => shared.close());
  const slots = new Slots({ ...limits, queue }, undefined, () => shared.ask('a'));
  shared.add('a', slots);
  return { state, slots, asked };
}

test('slots for calls that begin to wait in one event-loop turn are requested together', async (t) => {
  const { slots, asked } = setUp(t, ({ wants }) => ({ held: wants, keep: 4 }));
  slots.enter(silent());
  slots.enter(silent());
  await tick();
  await tick();
  assert.deepEqual(asked, [{ upstream: 'a', most: 4, held: 0, wants: 2 }]);
  assert.deepEqual([slots.held, slots.inFlight, slots.waiting], [2, 2, 0]);
});

test('each later call that needs a shared slot causes another request', async (t) => {
  const { slots, asked } = setUp(t, ({ wants }) => ({ held: wants, keep: 4 }));
  for (let wanted = 1; wanted <= 3; wanted += 1) {
    slots.enter(silent());
    await tick();
    await tick();
    assert.deepEqual([asked.length, slots.inFlight], [wanted, wanted]);
  }
});

test('without the parent process, a process has its share of slots, and waiting calls beyond it are dropped', async (t) => {
  const { state, slots } = setUp(t, () => ({ held: 4, keep: 4 }));
  slots.hold(0, false);
  state.isThere = false;
  const events: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    slots.enter({
      ...call,
      entered: () => events.push(`${name} entered`),
      timedOut: () => events.push(`${name} too late`),
    });
  }
  await tick();
  await tick();
  assert.deepEqual(events, ['one entered', 'two entered', 'three too late']);
  assert.deepEqual([slots.held, slots.hasRoom(call)], [2, false]);
});

test('an upstream added while the parent process is missing has its share of slots at once', (t) => {
  const { slots } = setUp(t, () => ({ held: 4, keep: 4 }), 0, false);
  assert.equal(slots.held, 2);
});

test('after a failed request to the parent, a process uses its share of slots and asks again later', async (t) => {
  let failures = 0;
  const fail = (): never => {
    failures += 1;
    throw new Error('no answer');
  };
  const { slots } = setUp(t, fail, 1);
  const enter = async (): Promise<void> => {
    slots.enter(silent());
    await tick();
    await tick();
  };
  await enter();
  await enter();
  assert.deepEqual([failures, slots.held, slots.inFlight], [1, 2, 2]);
  await enter();
  assert.deepEqual([failures, slots.held, slots.inFlight, slots.waiting], [2, 2, 2, 1]);
});
