import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fullJitterMs } from './pause.ts';

test('the longest delay doubles with each attempt, up to a second', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 2_000].map((attempt) => fullJitterMs(attempt, () => 1));
  assert.deepEqual(longest, [50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
});

test('delays are uniformly distributed up to the longest', () => {
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(40), random, (attempt, chance) => {
      const waitMs = fullJitterMs(attempt, () => chance);
      assert.equal(waitMs, chance * fullJitterMs(attempt, () => 1));
      assert.ok(waitMs >= 0 && waitMs < 1_000);
    }),
  );
});
