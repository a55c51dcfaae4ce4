import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RetryBudget } from './target-health.ts';

/** Takes until it is refused. */
function drain(budget: RetryBudget, nowMs: number): number {
  let taken = 0;
  while (budget.tryTake(nowMs)) taken += 1;
  return taken;
}

test('starts with twenty retries', () => {
  assert.equal(drain(new RetryBudget(5_000), 5_000), 20);
});

test('five requests earn one retry', () => {
  const budget = new RetryBudget(0);
  drain(budget, 0);
  for (let request = 0; request < 4; request += 1) budget.deposit();
  assert.equal(drain(budget, 0), 0);
  budget.deposit();
  assert.equal(drain(budget, 0), 1);
  for (let request = 0; request < 100; request += 1) budget.deposit();
  assert.equal(drain(budget, 0), 20);
});

test('ten retries a second are granted without being earned by requests', () => {
  const budget = new RetryBudget(0);
  drain(budget, 0);
  assert.equal(drain(budget, 1_000), 10);
  let taken = 0;
  for (let nowMs = 1_001; nowMs <= 2_000; nowMs += 1) taken += drain(budget, nowMs);
  assert.equal(taken, 10);
});

test('saves at most fifty retries, however long the upstream is idle', () => {
  const quiet = new RetryBudget(0);
  drain(quiet, 0);
  assert.equal(drain(quiet, 3_600_000), 50);
  const busy = new RetryBudget(0);
  for (let request = 0; request < 10_000; request += 1) busy.deposit();
  assert.equal(drain(busy, 0), 50);
});

test('never grants more retries than the limit in any window of any sequence of calls', () => {
  const step = fc.record({
    passesMs: fc.oneof(fc.nat(50), fc.nat(8_000)),
    deposits: fc.nat(60),
    asks: fc.nat(80),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const budget = new RetryBudget(0);
      let nowMs = 0;
      let deposits = 0;
      let taken = 0;
      const marks = [{ nowMs, deposits, taken, stored: 20 }];
      for (const { passesMs, deposits: more, asks } of steps) {
        nowMs += passesMs;
        marks.push({ nowMs, deposits, taken, stored: 50 });
        for (let i = 0; i < more; i += 1) budget.deposit();
        deposits += more;
        for (let i = 0; i < asks; i += 1) taken += budget.tryTake(nowMs) ? 1 : 0;
        for (const start of marks) {
          const seconds = (nowMs - start.nowMs) / 1000;
          const bound = start.stored + 0.2 * (deposits - start.deposits) + 10 * seconds;
          assert.ok(taken - start.taken <= bound + 1e-6, `${taken - start.taken} of ${bound}`);
        }
      }
    }),
  );
});
