/** Measures process memory that cannot be released, for overload detection. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface MemoryReader {
  readonly readMemoryBytes: () => number;
  /** Full and synchronous: without new work V8 has no reason to collect. */
  readonly collectGarbage: () => void;
}

/** Freed memory stays in the resident set, but not in V8's figures: the smaller counts, of the set, and V8's memory plus the process's base. */
export function createMemoryReader(): MemoryReader {
  const besideBytes = Math.max(0, process.memoryUsage.rss() - engineBytes());
  return {
    readMemoryBytes: () => Math.min(process.memoryUsage.rss(), besideBytes + engineBytes()),
    collectGarbage: findCollector(),
  };
}

/** Compacts the heap and returns memory to the system, which takes almost a second: to be called before serving. */
export function packMemory(): void {
  findCollector({ type: 'major', execution: 'sync', flavor: 'last-resort' })();
}

/** The first major version of V8 whose switch for it is known to work. */
const firstWithOneLimit = 14;

/** Makes V8 count buffers with the heap: else it runs a full collection every 64 MiB of them, a third of the time at megabytes a second. */
export function countBuffersWithHeap(): void {
  if (Number.parseInt(process.versions.v8, 10) >= firstWithOneLimit)
    setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** Megabytes of a semi-space. */
const youngInThreads = 4;

/** Threads work in batches: the large young generation that the launcher gives the main thread would be resident memory for nothing. */
export function keepThreadsSmall(): void {
  setFlagsFromString(`--max-semi-space-size=${youngInThreads}`);
}

/**
 * V8 allocates objects in its old generation where most of those made at the same place survived a collection. Rows in a batch survive one, and are
 * garbage a moment later: the collections of the old generation then cost as much CPU as the work itself.
 */
export function allocateYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

function engineBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}

/** V8 exposes it only on request; this needs no flag on the command line. */
function findCollector(how?: object): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return typeof collect === 'function' ? () => void (how === undefined ? collect() : collect(how)) : () => undefined;
}
