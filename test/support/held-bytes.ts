/** Measures memory held outside the heap after garbage collection. */

import v8 from 'node:v8';
import vm from 'node:vm';

let collect: unknown;

export function heldBytes(): number {
  collectAll();
  return process.memoryUsage().arrayBuffers;
}

/** What is held in the heap then. */
export function heldHeapBytes(): number {
  collectAll();
  return process.memoryUsage().heapUsed;
}

function collectAll(): void {
  if (collect === undefined) {
    v8.setFlagsFromString('--expose-gc');
    collect = vm.runInNewContext('gc');
  }
  if (typeof collect !== 'function') throw new TypeError('the engine does not let itself be asked to collect');
  collect();
}
