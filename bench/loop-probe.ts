/** Preloaded into a gateway: records each time that its event loop was blocked, in wall-clock and CPU time. */

import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const everyMs = 5;
const noticedMs = 10;

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const file = process.env.POSTERN_BENCH_PROBE;
if (file !== undefined && isMainThread) {
  let lastMs = performance.now();
  let lastCpuMs = cpuMs();
  setInterval(() => {
    const heldMs = performance.now() - lastMs - everyMs;
    const usedMs = cpuMs() - lastCpuMs;
    if (heldMs > noticedMs) appendFileSync(file, `${heldMs.toFixed(1)} ${usedMs.toFixed(1)}\n`);
    lastMs = performance.now();
    lastCpuMs = cpuMs();
  }, everyMs).unref();
}
