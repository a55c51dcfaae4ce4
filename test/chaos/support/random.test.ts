import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from './random.ts';

test('a seed repeats its numbers, and another seed differs', () => {
  const take = (seed: number): number[] => Array.from({ length: 5 }, createRandom(seed));
  assert.deepEqual(take(7), take(7));
  assert.notDeepEqual(take(7), take(8));
});

test('the numbers cover the whole of [0, 1)', () => {
  const random = createRandom(1);
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i += 1) {
    const tenth = Math.floor(random() * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  assert.equal(tenths.length, 10);
  assert.ok(
    tenths.every((count) => count > 850 && count < 1150),
    String(tenths),
  );
});
