import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { atOnce, inBackground, inSlices, isSliceOver, nextSlice, timeSliced } from './time-slices.ts';

/** Waits until the slice is used up. */
function useUpSlice(): void {
  while (!isSliceOver());
}

/** The turn of the event loop in which each step of the work ran. */
async function turnsOf(work: (turn: () => number) => Promise<unknown>): Promise<void> {
  let turn = 0;
  let isDone = false;
  const counting = (async () => {
    for (; !isDone; turn += 1) await turnOfTheLoop();
  })();
  await work(() => turn);
  isDone = true;
  await counting;
}

test('of several long tasks, one runs per event-loop turn, in order', async () => {
  const seen: { task: number; turn: number }[] = [];
  await turnsOf((turn) => {
    const work = async (task: number): Promise<void> => {
      for (let piece = 0; piece < 4; piece += 1) {
        await nextSlice();
        seen.push({ task, turn: turn() });
        useUpSlice();
      }
    };
    return Promise.all([work(0), work(1), work(2)]);
  });
  assert.deepEqual(
    seen.map(({ task }) => task),
    [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2],
  );
  assert.equal(new Set(seen.map((one) => one.turn)).size, seen.length);
});

test('several short tasks run within one slice', async () => {
  const turns = new Set<number>();
  useUpSlice();
  await turnsOf((turn) =>
    Promise.all(
      Array.from({ length: 50 }, async () => {
        await nextSlice();
        turns.add(turn());
      }),
    ),
  );
  // On a busy machine a slice may end before all of them had their part.
  assert.ok(turns.size < 50, String(turns.size));
});

test('a task that asks for a slice again gets it in a later turn', async () => {
  const turns = new Set<number>();
  await turnsOf(async (turn) => {
    for (let piece = 0; piece < 5; piece += 1) {
      await nextSlice();
      turns.add(turn());
    }
  });
  assert.equal(turns.size, 5);
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

test('background work leaves event-loop turns to other work between its slices', async () => {
  const turns: number[] = [];
  await turnsOf(async (turn) => {
    let isDone = false;
    const other = (async () => {
      while (!isDone) {
        await turnOfTheLoop();
        const endMs = performance.now() + 0.2;
        while (performance.now() < endMs);
      }
    })();
    await inBackground.inSlices(Array(40).keys(), () => {
      turns.push(turn());
      useUpSlice();
    });
    isDone = true;
    await other;
  });
  const free = (turns.at(-1) ?? 0) - (turns[0] ?? 0) + 1 - new Set(turns).size;
  // On a busy machine most pauses may be over within a turn.
  assert.ok(free >= 3, turns.join(' '));
});
