import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import { BulkGovernor, SloTracker } from './bulk-governor.ts';
import { Slots, type SlotWaiter } from './slots.ts';

const limits = { concurrency: 16, queue: 1_000, queueTimeoutMs: 60_000, bulkShare: 0.1 };
const goalMs = 150;

/** Ten interactive calls a second beside as much bulk as permitted, where each bulk call slows interactive ones. */
function run(msOf: (bulkInFlight: number) => number, seconds: number) {
  const governor = new BulkGovernor();
  const tracker = new SloTracker();
  let [nowMs, over, bulkSum] = [0, 0, 0];
  const calls = seconds * 10;
  for (let call = 0; call < calls; call += 1) {
    nowMs += 100;
    const bulk = Math.min(16, governor.limit);
    const ms = msOf(bulk);
    governor.count(tracker, ms, goalMs, bulk, 16, nowMs + ms);
    if (call < calls / 2) continue;
    bulkSum += bulk;
    if (ms > goalMs) over += 1;
  }
  return { overShare: over / (calls / 2), meanBulk: bulkSum / (calls / 2), tracker };
}

test('bulk gets as many slots as let about 95 % of interactive calls meet the latency target', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 14 }), (most) => {
      // Up to so many bulk calls interactive ones are fast enough.
      const { overShare, meanBulk, tracker } = run((bulk) => (bulk <= most ? 100 : 200), 600);
      assert.ok(overShare <= 0.08, `${overShare} over`);
      assert.ok(meanBulk >= most * 0.6 && meanBulk <= most + 1, `${meanBulk} of ${most}`);
      assert.equal(tracker.isMissed, false);
    }),
  );
});

test('while interactive calls meet the latency target, bulk may use all its slots', () => {
  assert.equal(run(() => 100, 60).meanBulk, 16);
});

test('if even one bulk call makes interactive calls too slow, bulk keeps one slot and the target counts as missed', () => {
  const { meanBulk, tracker } = run(() => 200, 60);
  assert.deepEqual([meanBulk, tracker.isMissed], [1, true]);
});

test('a missed latency target counts as met again after enough fast calls', () => {
  const tracker = new SloTracker();
  for (let call = 0; call < 20; call += 1) tracker.count(true, true);
  assert.equal(tracker.isMissed, true);
  for (let call = 0; call < 20; call += 1) tracker.count(false, true);
  assert.equal(tracker.isMissed, true);
  for (let call = 0; call < 80; call += 1) tracker.count(false, true);
  assert.equal(tracker.isMissed, false);
});

test('bulk is limited while interactive calls are slow, and unlimited ten seconds after the last of them', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const clock = createFakeClock();
  const slots = new Slots(limits, clock);
  const tracker = new SloTracker();
  const waiter = (lane: 'interactive' | 'bulk'): SlotWaiter => ({
    ...{ lane, project: 'p', key: 'k', work: 1 },
    entered() {},
    timedOut() {},
  });
  for (let count = 0; count < 60; count += 1) slots.enter(waiter('bulk'));
  assert.equal(slots.bulkInFlight, 16);
  // Each interactive call takes the slot of a bulk call that has ended.
  for (let call = 0; call < 10; call += 1) {
    slots.enter(waiter('interactive'));
    for (let ended = 0; ended < 3 && slots.bulkInFlight > 1; ended += 1) slots.leave('bulk');
    clock.advance(400);
    slots.reportSlo(tracker, 300, goalMs);
    slots.leave('interactive');
  }
  assert.ok(slots.bulkInFlight <= 2, `${slots.bulkInFlight}`);
  assert.ok(slots.bulkLimit <= 2);
  clock.advance(11_000);
  t.mock.timers.tick(11_000);
  assert.equal(slots.bulkInFlight, 16);
});
