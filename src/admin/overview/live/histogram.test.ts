import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addBuckets, growth, growthOfBuckets, toPercentiles } from './reading.ts';

const bounds = [0.1, 0.2, 0.5];
/** Three buckets, the one above them, and the sum of the observations. */
const counts = (...all: number[]): number[] => [...all, all.reduce((sum, count, at) => sum + count * (at + 1), 0)];

describe('what was added between two readings', () => {
  test('of a counter is the difference, all of it if new, and nothing if it fell', () => {
    assert.equal(growth(7, 5), 2);
    assert.equal(growth(5, 5), 0);
    assert.equal(growth(3, 5), 0);
    assert.equal(growth(4, undefined), 4);
  });

  test('sums the growth of each bucket over all series', () => {
    const before = { a: counts(1, 0, 0, 0), b: counts(0, 2, 0, 0) };
    const now = { a: counts(3, 0, 1, 0), b: counts(0, 2, 0, 4), c: counts(0, 1, 0, 0) };
    assert.deepEqual(growthOfBuckets(now, before, 4), [2, 1, 1, 4]);
  });

  test('ignores a series whose counter fell because models were dropped from it', () => {
    assert.deepEqual(growthOfBuckets({ a: counts(2, 1, 0, 0) }, { a: counts(9, 0, 0, 0) }, 4), [0, 0, 0, 0]);
  });

  test('is zero when a series is missing before or after', () => {
    assert.deepEqual(growthOfBuckets({}, { a: counts(9, 9, 9, 9) }, 4), [0, 0, 0, 0]);
    assert.deepEqual(growthOfBuckets({}, {}, 4), [0, 0, 0, 0]);
  });
});

describe('percentiles', () => {
  test('are unknown without samples', () => {
    assert.equal(toPercentiles([0, 0, 0, 0], bounds), undefined);
    assert.equal(toPercentiles(addBuckets([]), bounds), undefined);
  });

  test('are interpolated within their bucket', () => {
    assert.deepEqual(toPercentiles([0, 100, 0, 0], bounds), { p50: 150, p95: 195, p99: 199 });
  });

  test('start at 0 in the first bucket, and pass over empty ones', () => {
    const found = toPercentiles([50, 0, 50, 0], bounds);
    assert.equal(found?.p50, 100);
    assert.ok((found?.p95 ?? 0) > 200 && (found?.p95 ?? 0) < 500);
  });

  test('are at least the last bound for values above it', () => {
    assert.deepEqual(toPercentiles([0, 0, 0, 3], bounds), { p50: 500, p95: 500, p99: 500 });
  });

  test('over several intervals equal those of the whole', () => {
    const all = addBuckets([
      [1, 0, 0, 0],
      [0, 0, 1, 0],
    ]);
    assert.deepEqual(all, [1, 0, 1, 0]);
  });
});
