import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cosine } from './unit-length.ts';

test('the cosine similarity is 0 for vectors of zeros, NaN, infinities or numbers that overflow', () => {
  assert.equal(cosine([1, 0], [2, 0]), 1);
  assert.equal(cosine([1, 0], [0, 2]), 0);
  for (const [a, b] of [
    [
      [0, 0],
      [1, 0],
    ],
    [
      [1, Number.NaN],
      [1, 0],
    ],
    [
      [1e200, 1e200],
      [1e200, 1],
    ],
    [[Number.POSITIVE_INFINITY], [1]],
  ] as const) {
    assert.equal(cosine(a, b), 0);
  }
});
