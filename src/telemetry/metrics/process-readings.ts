/** Reads the metrics of the process: CPU, memory, event-loop delay, garbage collection. */

import { readdirSync } from 'node:fs';
import { constants, monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { codeOf } from '../../lib/thrown.ts';
import type { MetricName } from './definitions.ts';
import { type Reading, toLabels } from './reading.ts';

export type ProcessReadings = ReturnType<typeof createProcessReadings>;

const delayResolutionMs = 20;
const windowMs = 10_000;
/** Event-loop percentiles. Their label is not `quantile`, which would make a gauge look like a summary. */
const percentiles = [50, 90, 99, 100] as const;

const kinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak_callbacks',
};

export function createProcessReadings() {
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delay.enable();
  const delays = new Map<number, number>(percentiles.map((percentile) => [percentile, 0]));
  const windows = setInterval(() => {
    for (const percentile of percentiles) delays.set(percentile, latenessS(delay.percentile(percentile)));
    delay.reset();
  }, windowMs).unref();

  const collecting = new Map<string, number>(Object.values(kinds).map((kind) => [kind, 0]));
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const kind = kinds[kindOf(entry)] ?? 'major';
      collecting.set(kind, (collecting.get(kind) ?? 0) + entry.duration / 1000);
    }
  });
  observer.observe({ entryTypes: ['gc'] });

  return {
    /** Reads all metrics, or leaves out slow ones that are not in `only`. */
    read(only?: ReadonlySet<MetricName>): Reading {
      const { user, system } = process.cpuUsage();
      const memory = process.memoryUsage();
      const openFiles = only?.has('process_open_fds') === false ? undefined : countOpenFiles();
      return {
        process_cpu_seconds_total: { '': (user + system) / 1e6 },
        process_resident_memory_bytes: { '': memory.rss },
        process_start_time_seconds: { '': Math.round(performance.timeOrigin) / 1000 },
        ...(openFiles === undefined ? {} : { process_open_fds: { '': openFiles } }),
        nodejs_heap_used_bytes: { '': memory.heapUsed },
        nodejs_heap_total_bytes: { '': memory.heapTotal },
        nodejs_external_memory_bytes: { '': memory.external },
        nodejs_eventloop_delay_seconds: Object.fromEntries(
          [...delays].map(([percentile, seconds]) => [toLabels(['percentile'], [String(percentile)]), seconds]),
        ),
        nodejs_gc_seconds_total: Object.fromEntries(
          [...collecting].map(([kind, seconds]) => [toLabels(['kind'], [kind]), seconds]),
        ),
      };
    },
    close(): void {
      clearInterval(windows);
      delay.disable();
      observer.disconnect();
    },
  };
}

/** Lateness in seconds; the histogram measures the whole time from one firing of its timer to the next. */
function latenessS(nanos: number): number {
  return Math.max(0, nanos / 1e9 - delayResolutionMs / 1000);
}

function kindOf(entry: object): number {
  const detail: unknown = 'detail' in entry ? entry.detail : undefined;
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : undefined;
  return typeof kind === 'number' ? kind : -1;
}

function countOpenFiles(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readdirSync('/proc/self/fd').length;
  } catch (error) {
    if (codeOf(error) !== undefined) return undefined; // no /proc, or no descriptor left to read it with
    throw error;
  }
}
