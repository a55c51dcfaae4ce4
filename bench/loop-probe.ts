/** Preloaded into a gateway: writes down how long its event loop was held, each time that it was. */

import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const everyMs = 5;
const noticedMs = 10;

const file = process.env.POSTERN_BENCH_PROBE;
if (file !== undefined && isMainThread) {
  let lastMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    const heldMs = nowMs - lastMs - everyMs;
    if (heldMs > noticedMs) appendFileSync(file, `${heldMs.toFixed(1)}\n`);
    lastMs = performance.now();
  }, everyMs).unref();
}
