import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { atOnce, inSlices, isSliceOver, nextSlice, timeSliced } from './time-slices.ts';

/** Waits until the slice is used up. */
function useUpSlice(): void {
  while (!isSliceOver());
}

test('of several long tasks, one runs per event-loop turn, in order', async () => {
  let turn = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turn += 1) await turnOfTheLoop();
  })();
  const seen: { task: number; turn: number }[] = [];
  async function work(task: number): Promise<void> {
    for (let piece = 0; piece < 4; piece += 1) {
      await nextSlice();
      seen.push({ task, turn });
      useUpSlice();
    }
  }
  await Promise.all([work(0), work(1), work(2)]);
  isDone = true;
  await counting;
  assert.deepEqual(
    seen.map(({ task }) => task),
    [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2],
  );
  assert.equal(new Set(seen.map((one) => one.turn)).size, seen.length);
});

test('what a short task leaves of a slice is for those that wait behind it', async () => {
  let turn = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turn += 1) await turnOfTheLoop();
  })();
  useUpSlice();
  const turns = await Promise.all(
    Array.from({ length: 50 }, async () => {
      await nextSlice();
      return turn;
    }),
  );
  isDone = true;
  await counting;
  // On a busy machine a slice may end before all of them had their part.
  assert.ok(new Set(turns).size < turns.length / 2, String(turns));
});

test('short work is not delayed, and long work yields at the end of its slice', async () => {
  let steps = 0;
  function* work(pieces: number): Generator<undefined, number, undefined> {
    for (let piece = 0; piece < pieces; piece += 1) {
      steps += 1;
      if (piece > 0) useUpSlice();
      yield;
    }
    return pieces;
  }
  const short = timeSliced(work(1));
  assert.equal(steps, 1);
  assert.equal(await short, 1);
  steps = 0;
  const long = timeSliced(work(5));
  assert.ok(steps < 5);
  assert.equal(await long, 5);
  assert.equal(steps, 5);
  assert.equal(atOnce(work(3)), 3);
});

test('items are mapped in order, and mapping yields at the end of its slice', async () => {
  let isAway = false;
  const turn = turnOfTheLoop().then(() => {
    isAway = true;
  });
  const seen = await inSlices([1, 2, 3], (item) => {
    if (item === 1) useUpSlice();
    return [item * 2, isAway];
  });
  await turn;
  assert.deepEqual(
    seen.map(([doubled]) => doubled),
    [2, 4, 6],
  );
  assert.deepEqual([seen[0]?.[1], seen[2]?.[1]], [false, true]);
});
