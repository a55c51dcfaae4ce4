/** A clock on which every piece of work exceeds its time slice, so that long work yields wherever it can. */

import type { TestContext } from 'node:test';
import { setImmediate as nextSlice } from 'node:timers/promises';

export async function slowClock(t: TestContext): Promise<void> {
  // What was begun by another clock is over.
  await nextSlice();
  let nowMs = performance.now();
  const { mock } = t.mock.method(performance, 'now', () => {
    nowMs += 1_000;
    return nowMs;
  });
  t.after(async () => {
    mock.restore();
    await nextSlice();
  });
}
