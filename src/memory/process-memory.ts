/** Measures process memory that cannot be released, for overload detection. */

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface MemoryReader {
  readonly readMemoryBytes: () => number;
  /** In full, and at once: where no new work comes in, nothing else would give the engine a reason to. */
  readonly collectGarbage: () => void;
}

/**
 * The allocator keeps what was freed, so that the resident set never shrinks after a burst; what the engine holds does. The
 * smaller of the two counts: the resident set, and what the engine holds beside that which was there before it held anything.
 */
export function createMemoryReader(): MemoryReader {
  const besideBytes = Math.max(0, process.memoryUsage.rss() - engineBytes());
  return {
    readMemoryBytes: () => Math.min(process.memoryUsage.rss(), besideBytes + engineBytes()),
    collectGarbage: findCollector(),
  };
}

/** What is held now is packed, and the rest given back to the system, which takes the better part of a second: for when nobody is served yet. */
export function packMemory(): void {
  findCollector({ type: 'major', execution: 'sync', flavor: 'last-resort' })();
}

/** The first version of the engine whose switch for it is known to work. */
const firstWithOneLimit = 14;

/**
 * Buffers count with the rest of what the process holds when the engine decides whether all garbage is worth collecting. By
 * itself it does so after every 64 MiB of them, and where megabytes pass through each second a third of the time goes into that.
 */
export function countBuffersWithHeap(): void {
  if (Number.parseInt(process.versions.v8, 10) >= firstWithOneLimit)
    setFlagsFromString('--external-memory-accounted-in-global-limit');
}

/** Megabytes of a half of the young generation. */
const youngInThreads = 4;

/**
 * What is young has much memory in the main thread, where the launcher asks for it: a request's garbage is gone before the next
 * collection. The threads that are started from now on work for the store in batches; as much memory again for each of them
 * would be resident memory for nothing.
 */
export function keepThreadsSmall(): void {
  setFlagsFromString(`--max-semi-space-size=${youngInThreads}`);
}

function engineBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics();
  return total_heap_size + external_memory;
}

/** The engine hands it out only where it is asked to; that needs no flag on the command line. */
function findCollector(how?: object): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return typeof collect === 'function' ? () => void (how === undefined ? collect() : collect(how)) : () => undefined;
}
