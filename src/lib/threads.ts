/** Sets up threads: an environment with next to nothing of the process's, and a lower priority on request. */

import { readlinkSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { constants, getPriority, setPriority } from 'node:os';
import { dirname } from 'node:path';

/** A thread's environment: only the directory of the compile cache, which halves the thread's start. */
export function threadEnvironment(): Record<string, string> {
  const compiled = getCompileCacheDir();
  return compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };
}

/** Lowers the priority of the current thread on Linux, where threads have priorities; elsewhere, or without permission, nothing changes. */
export function yieldToOthers(steps: number): void {
  if (process.platform !== 'linux') return;
  try {
    const [processId, , threadId] = readlinkSync('/proc/thread-self').split('/').map(Number);
    // In a container /proc may be another's, where the numbers mean other threads.
    if (threadId === undefined || processId !== process.pid) return;
    setPriority(threadId, Math.min(constants.priority.PRIORITY_LOW, getPriority(threadId) + steps));
  } catch {
    // The thread works with its present priority as well.
  }
}
