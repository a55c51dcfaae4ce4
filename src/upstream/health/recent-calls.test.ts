import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentCalls } from './recent-calls.ts';

const minuteMs = 60_000;

test('counts calls and failures of the last five minutes', () => {
  const recent = new RecentCalls();
  assert.deepEqual([recent.wasCalled, recent.sums(minuteMs)], [false, { calls: 0, failedCalls: 0 }]);
  for (let call = 0; call < 10; call += 1) recent.add(minuteMs, call < 3);
  recent.add(3 * minuteMs, false);
  recent.broke(3 * minuteMs);
  assert.deepEqual(recent.sums(4 * minuteMs), { calls: 11, failedCalls: 4 });
  assert.deepEqual(recent.sums(6 * minuteMs), { calls: 1, failedCalls: 1 });
  assert.deepEqual(recent.sums(8 * minuteMs), { calls: 0, failedCalls: 0 });
  assert.equal(recent.wasCalled, true);
});

test('a failure reported after its call left the window is not counted', () => {
  const recent = new RecentCalls();
  recent.add(0, false);
  recent.broke(10 * minuteMs);
  assert.deepEqual(recent.sums(10 * minuteMs), { calls: 0, failedCalls: 0 });
});

test('a failure caused by the request itself is not counted', () => {
  const recent = new RecentCalls();
  recent.add(minuteMs, true);
  recent.forgive(minuteMs);
  recent.forgive(minuteMs);
  assert.deepEqual(recent.sums(minuteMs), { calls: 1, failedCalls: 0 });
});

test('targets do not share counts', () => {
  const called = new RecentCalls();
  called.add(minuteMs, true);
  assert.deepEqual(new RecentCalls().sums(minuteMs), { calls: 0, failedCalls: 0 });
  assert.deepEqual(called.sums(minuteMs), { calls: 1, failedCalls: 1 });
});
