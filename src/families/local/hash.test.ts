import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTally, type Tally } from './hash.ts';

function drained(tally: Tally): [number, number][] {
  const rows: [number, number][] = [];
  tally.drain((key, sum) => rows.push([key, sum]));
  return rows;
}

test('a tally adds up amounts per key like a Map, and returns them in insertion order', () => {
  // Few different low bits, so that keys collide.
  const key = fc.tuple(fc.nat(3), fc.nat(5)).map(([low, high]) => (low | (high << 16)) >>> 0);
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.integer({ min: 1, max: 9 })), { maxLength: 200 }), (rows) => {
      const tally = createTally(32);
      const expected = new Map<number, number>();
      for (const [each, amount] of rows) {
        assert.equal(tally.add(each, amount), true);
        expected.set(each, (expected.get(each) ?? 0) + amount);
      }
      assert.equal(tally.size, expected.size);
      assert.deepEqual(drained(tally), [...expected]);
    }),
  );
});

test('a full tally refuses a new key, and still updates existing ones', () => {
  const tally = createTally(2);
  const taken = [1, 2, 3, 1].map((key) => tally.add(key));
  assert.deepEqual(taken, [true, true, false, true]);
  assert.equal(tally.has(3), false);
  assert.deepEqual(drained(tally), [
    [1, 2],
    [2, 1],
  ]);
});

test('a tally is empty after it was drained', () => {
  const tally = createTally(4);
  tally.add(7, 0.25);
  drained(tally);
  assert.equal(tally.size, 0);
  assert.equal(tally.has(7), false);
  tally.add(7, 0.5);
  assert.deepEqual(drained(tally), [[7, 0.5]]);
});
