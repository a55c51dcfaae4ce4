import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addBuckets, growth, growthOfBuckets, toPercentiles } from './reading.ts';

const bounds = [0.1, 0.2, 0.5];
/** Three buckets, the one above them, and the sum of the observations. */
const counts = (...all: number[]): number[] => [...all, all.reduce((sum, count, at) => sum + count * (at + 1), 0)];

describe('growth between two readings', () => {
  test('growth of a counter is the difference, its full value if the counter is new, and zero if it fell', () => {
    assert.equal(growth(7, 5), 2);
    assert.equal(growth(5, 5), 0);
    assert.equal(growth(3, 5), 0);
    assert.equal(growth(4, undefined), 4);
  });

  test("growth of a histogram is the sum of each bucket's growth over all series", () => {
    const before = { a: counts(1, 0, 0, 0), b: counts(0, 2, 0, 0) };
    const now = { a: counts(3, 0, 1, 0), b: counts(0, 2, 0, 4), c: counts(0, 1, 0, 0) };
    assert.deepEqual(growthOfBuckets(now, before, 4), [2, 1, 1, 4]);
  });

  test('growth of a histogram ignores a series whose counts fell because models were dropped from it', () => {
    assert.deepEqual(growthOfBuckets({ a: counts(2, 1, 0, 0) }, { a: counts(9, 0, 0, 0) }, 4), [0, 0, 0, 0]);
  });

  test('growth of a histogram is zero when the new reading has no series', () => {
    assert.deepEqual(growthOfBuckets({}, { a: counts(9, 9, 9, 9) }, 4), [0, 0, 0, 0]);
    assert.deepEqual(growthOfBuckets({}, {}, 4), [0, 0, 0, 0]);
  });
});

describe('percentiles', () => {
  test('percentiles are undefined without samples', () => {
    assert.equal(toPercentiles([0, 0, 0, 0], bounds), undefined);
    assert.equal(toPercentiles(addBuckets([]), bounds), undefined);
  });

  test('percentiles are interpolated within their bucket', () => {
    assert.deepEqual(toPercentiles([0, 100, 0, 0], bounds), { p50: 150, p95: 195, p99: 199 });
  });

  test('percentiles in the first bucket are interpolated from 0, and empty buckets are passed over', () => {
    const found = toPercentiles([50, 0, 50, 0], bounds);
    assert.equal(found?.p50, 100);
    assert.ok((found?.p95 ?? 0) > 200 && (found?.p95 ?? 0) < 500);
  });

  test('percentiles of values above the last bound are the last bound', () => {
    assert.deepEqual(toPercentiles([0, 0, 0, 3], bounds), { p50: 500, p95: 500, p99: 500 });
  });

  test('bucket counts of several intervals are added up', () => {
    const all = addBuckets([
      [1, 0, 0, 0],
      [0, 0, 1, 0],
    ]);
    assert.deepEqual(all, [1, 0, 1, 0]);
  });
});
