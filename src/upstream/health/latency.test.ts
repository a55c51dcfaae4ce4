import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Latency } from './latency.ts';

function recorded(samples: readonly number[]): Latency {
  const latency = new Latency();
  for (const ms of samples) latency.record(ms, 0);
  return latency;
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

function assertNear(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-6 * Math.max(1, expected), `${actual} is not ${expected}`);
}

test('a target that was never called has latency zero', () => {
  assert.equal(new Latency().movingMs(1_000), 0);
});

test('the first call counts fully, each following one for a tenth', () => {
  assert.equal(recorded([20]).movingMs(0), 20);
  assertNear(recorded([20, 120]).movingMs(0), 30);
});

test('one slow call among many fast ones is soon forgotten', () => {
  const latency = recorded([10, 10, 2_000]);
  for (let call = 0; call < 60; call += 1) latency.record(10, 0);
  assert.ok(latency.movingMs(0) < 11);
});

test('decays towards zero without calls, with a time constant of ten seconds', () => {
  const latency = recorded([1_000]);
  assertNear(latency.movingMs(10_000), 1_000 / Math.E);
  assertNear(latency.movingMs(20_000), 1_000 / Math.E ** 2);
  assert.ok(latency.movingMs(120_000) < 0.01);
});

test('the displayed latency does not decay, and disappears after five minutes', () => {
  const latency = recorded([9_000]);
  assert.equal(latency.measuredMs(28_000), 9_000);
  assert.ok(latency.movingMs(28_000) < 600);
  assert.equal(latency.measuredMs(5 * 60_000), 9_000);
  assert.equal(latency.measuredMs(5 * 60_000 + 1), 0);
  assert.equal(new Latency().measuredMs(0), 0);
});

test('the first call after a pause changes the moving latency more', () => {
  const slowAgain = recorded([1_000]);
  slowAgain.record(1_000, 10_000);
  assertNear(slowAgain.movingMs(10_000), 1_000);
  const quick = recorded([1_000]);
  quick.record(10, 60_000);
  assert.ok(quick.movingMs(60_000) < 13);
});

test('the moving latency converges to the real latency', () => {
  const latency = recorded([1_000]);
  for (let nowMs = 0; nowMs <= 100_000; nowMs += 100) latency.record(40, nowMs);
  assertNear(latency.movingMs(100_000), 40);
});

test('a target has a 95th percentile from twenty calls on', () => {
  assert.equal(recorded(upTo(19)).percentile95Ms(), undefined);
  assert.equal(recorded(upTo(20)).percentile95Ms(), 19);
  assert.equal(recorded(upTo(100).reverse()).percentile95Ms(), 95);
});

test('uses the last 128 calls for the 95th percentile', () => {
  assert.equal(recorded([...upTo(100).map(() => 9_999), ...upTo(128)]).percentile95Ms(), 122);
});

test('updates the 95th percentile every sixteen calls', () => {
  const latency = recorded(upTo(20));
  assert.equal(latency.percentile95Ms(), 19);
  for (let call = 0; call < 15; call += 1) latency.record(700, 0);
  assert.equal(latency.percentile95Ms(), 19);
  latency.record(700, 0);
  assert.equal(latency.percentile95Ms(), 700);
});

test('the moving latency stays between the shortest and the longest call', () => {
  const call = fc.record({ ms: fc.integer({ min: 1, max: 60_000 }), passesMs: fc.nat(30_000) });
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 60, size: 'max' }), (calls) => {
      const latency = new Latency();
      let nowMs = 0;
      let leastMs = Number.POSITIVE_INFINITY;
      let mostMs = 0;
      for (const { ms, passesMs } of calls) {
        nowMs += passesMs;
        leastMs = Math.min(leastMs, ms);
        mostMs = Math.max(mostMs, ms);
        latency.record(ms, nowMs);
        const movingMs = latency.movingMs(nowMs);
        assert.ok(movingMs > leastMs - 1e-6 && movingMs < mostMs + 1e-6, `${movingMs} of ${leastMs} to ${mostMs}`);
      }
    }),
  );
});

test('at least 95 % of the kept calls are at or below the 95th percentile, and fewer are below it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { minLength: 20, maxLength: 300, size: 'max' }), (samples) => {
      const percentileMs = recorded(samples).percentile95Ms();
      assert.ok(percentileMs !== undefined);
      const kept = samples.slice(-128);
      assert.ok(kept.filter((ms) => ms <= percentileMs).length >= kept.length * 0.95);
      assert.ok(kept.filter((ms) => ms < percentileMs).length < kept.length * 0.95);
    }),
  );
});
