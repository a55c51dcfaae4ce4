import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DrainPool } from './drain-pool.ts';

test('at most 256 abandoned responses are read on, for a second, and further ones are given up at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pool = new DrainPool();
  const givenUp: number[] = [];
  const enter = (call: number) => pool.enter(() => givenUp.push(call));
  const leave = Array.from({ length: 256 }, (_, call) => enter(call));
  enter(256);
  assert.deepEqual(givenUp, [256]);
  leave[0]?.();
  enter(257);
  enter(258);
  assert.deepEqual(givenUp, [256, 258]);
  t.mock.timers.tick(1_000);
  assert.deepEqual([givenUp.length, givenUp.includes(0), givenUp.includes(257)], [258, false, true]);
});
