/** How long results are shared. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecently } from './recently.ts';

test('a result is reused for the given time, unless it failed', async () => {
  let atMs = 0;
  let asked = 0;
  const gateway = { series: {}, clock: { monotonicMs: () => atMs } };
  const recently = createRecently(1_000);
  const ask = async () => (asked += 1);
  assert.deepEqual(await Promise.all([recently(gateway, 'a', ask), recently(gateway, 'a', ask)]), [1, 1]);
  assert.equal(await recently(gateway, 'b', ask), 2);
  atMs = 1_000;
  assert.equal(await recently(gateway, 'a', ask), 3);
  await assert.rejects(recently(gateway, 'c', () => Promise.reject(new Error('away'))));
  assert.equal(await recently(gateway, 'c', ask), 4);
});

test('a result that took long to compute is reused for longer, up to ten seconds', async () => {
  let atMs = 0;
  let asked = 0;
  const gateway = { series: {}, clock: { monotonicMs: () => atMs } };
  const recently = createRecently(1_000);
  const slowly = (tookMs: number) => async () => {
    atMs += tookMs;
    asked += 1;
    return asked;
  };
  assert.equal(await recently(gateway, 'a', slowly(200)), 1);
  atMs = 3_999;
  assert.equal(await recently(gateway, 'a', slowly(0)), 1);
  atMs = 4_000;
  assert.equal(await recently(gateway, 'a', slowly(2_000)), 2);
  atMs = 13_999;
  assert.equal(await recently(gateway, 'a', slowly(0)), 2);
  atMs = 14_000;
  assert.equal(await recently(gateway, 'a', slowly(0)), 3);
});
