/** Preloaded into a process: SIGUSR2 blocks its event loop for POSTERN_TEST_HOLD_MS, alternating between the phases of a turn. */

import { isMainThread } from 'node:worker_threads';

const holdMs = Number(process.env.POSTERN_TEST_HOLD_MS ?? 0);
const nobody = new Int32Array(new SharedArrayBuffer(4));
const hold = (): void => {
  Atomics.wait(nobody, 0, 0, holdMs);
};

/** While sockets are read, after it, and among the timers. */
const parts: readonly (() => void)[] = [hold, () => setImmediate(hold), () => setTimeout(hold, 1)];
let times = 0;

if (isMainThread) {
  process.on('SIGUSR2', () => {
    parts[times % parts.length]?.();
    times += 1;
  });
}
