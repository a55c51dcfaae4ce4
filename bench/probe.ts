/**
 * Preloaded into a measured process (`--import`): writes what only the process itself knows, as JSON lines, to the file in BENCH_PROBE. With
 * BENCH_PROBE_COLLECT=1 it collects garbage before each line, so that only live memory counts.
 */

import { appendFileSync } from 'node:fs';
import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { Reading } from './readings.ts';

const everyMs = 100;
const collectEveryMs = 1_000;

const file = process.env.BENCH_PROBE;
if (file !== undefined && isMainThread) watch(file, process.env.BENCH_PROBE_COLLECT === '1');

function watch(into: string, collects: boolean): void {
  const collect = collects ? findCollector() : undefined;
  let profiler = startProfiler();
  let outsideBytes = 0;
  let lastOutside = v8.getHeapStatistics().external_memory;
  let collections = 0;
  let collectionUs = 0;

  /** Memory outside of the heap is counted by what it grew between collections. */
  const grown = (to: number): void => {
    outsideBytes += Math.max(0, to - lastOutside);
    lastOutside = to;
  };

  setInterval(
    () => {
      collect?.();
      for (const { beforeGC, afterGC, cost } of profiler.stop().statistics) {
        grown(beforeGC.heapStatistics.externalMemory);
        lastOutside = afterGC.heapStatistics.externalMemory;
        collections += 1;
        collectionUs += cost;
      }
      profiler = startProfiler();
      const { total_allocated_bytes, external_memory } = v8.getHeapStatistics();
      grown(external_memory);
      const { heapUsed, external, rss } = process.memoryUsage();
      const reading: Reading = {
        atUs: Number(process.hrtime.bigint() / 1_000n),
        allocatedBytes: total_allocated_bytes,
        outsideBytes,
        collections,
        collectionUs,
        heldBytes: heapUsed + external,
        rssBytes: rss,
      };
      appendFileSync(into, `${JSON.stringify(reading)}\n`);
    },
    collects ? collectEveryMs : everyMs,
  ).unref();
}

function startProfiler(): InstanceType<typeof v8.GCProfiler> {
  const profiler = new v8.GCProfiler();
  profiler.start();
  return profiler;
}

function findCollector(): () => void {
  v8.setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
