/** Measures the process's memory, starts V8's garbage collections, and sets V8's switches for serving. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface ProcessMemory {
  readonly readMemoryBytes: () => number;
  /** Reads the memory of all buffers, including those that nothing refers to any more. */
  readonly readBufferBytes: () => number;
  /** Runs a full collection at once. It drops compiled code: see `setUpEngine`. */
  readonly collectGarbage: () => void;
  /** Begins a full collection that proceeds in steps and keeps compiled code, if V8 can be made to do so. */
  readonly beginCollection: () => void;
}

/** The memory in use is the smaller of two figures: the resident set, which also has freed memory, and V8's own memory plus the process's base. */
export function createProcessMemory(): ProcessMemory {
  const besideBytes = Math.max(0, process.memoryUsage.rss() - engineBytes());
  return {
    readMemoryBytes: () => Math.min(process.memoryUsage.rss(), besideBytes + engineBytes()),
    readBufferBytes: () => process.memoryUsage().arrayBuffers,
    collectGarbage: findCollector(),
    beginCollection,
  };
}

/** Compacts the heap and returns memory to the system, which takes almost a second: to be called before serving. */
export function packMemory(): void {
  findCollector({ type: 'major', execution: 'sync', flavor: 'last-resort' })();
}

/** The first major version of V8 whose switch for counting buffers with the heap is known to work. */
const firstWithOneLimit = 14;
/** Size of a semi-space (half of the memory for new objects) in threads, in megabytes. */
const youngInThreads = 4;

/** Sets V8's switches; to be called before threads start. */
export function setUpEngine(): void {
  // Buffers are counted with the heap: else V8 runs a full collection every 64 MiB of them, a third of the time at megabytes a second.
  if (Number.parseInt(process.versions.v8, 10) >= firstWithOneLimit)
    setFlagsFromString('--external-memory-accounted-in-global-limit');
  // Threads work in batches: the large young generation that the launcher gives the main thread would be resident memory for nothing.
  setFlagsFromString(`--max-semi-space-size=${youngInThreads}`);
  // V8 allocates objects in its old generation where most of those made at the same place survived a collection. Rows in a batch survive one, and
  // are garbage a moment later: the collections of the old generation then cost as much CPU as the work itself.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // V8 drops compiled code that names the shape of an object when a collection finds no such object: between requests, all code for requests. It keeps
  // it where it collects in steps to make room for new objects, but not where it collects all it can, as it does when a process was idle for eight
  // seconds: the next requests then cost two to four times as much until all was compiled again. The memory that this gives back is not worth it.
  setFlagsFromString('--memory-reducer-gc-count=0');
}

/** Size of a buffer that makes V8 begin a collection, as a share of the old generation; from a larger share on V8 would collect at once. */
const shareOfHeap = 0.48;
/** Memory for new objects, which the limit of the heap includes. */
const youngBytes = 96 * 1024 ** 2;

/** Makes V8 begin a collection by a large buffer, whose memory is never touched, so that the system provides none. */
function beginCollection(): void {
  const bytes = Math.floor((getHeapStatistics().heap_size_limit - youngBytes) * shareOfHeap);
  try {
    if (bytes > 0) new ArrayBuffer(bytes).transfer(0);
  } catch {
    // The system has no room for it: the caller sees that nothing was collected.
  }
}

function engineBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}

/** Gets V8's function for collections, which it exposes only on request; this needs no flag on the command line. */
function findCollector(how?: object): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return typeof collect === 'function' ? () => void (how === undefined ? collect() : collect(how)) : () => undefined;
}
