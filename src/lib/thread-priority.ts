/** Lowers the priority of the current thread. */

import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** On Linux, where threads have priorities; elsewhere, or without permission, nothing changes. */
export function yieldToOthers(steps: number): void {
  if (process.platform !== 'linux') return;
  try {
    const [processId, , threadId] = readlinkSync('/proc/thread-self').split('/').map(Number);
    // In a container /proc may be another's, where the numbers mean other threads.
    if (threadId === undefined || processId !== process.pid) return;
    setPriority(threadId, Math.min(constants.priority.PRIORITY_LOW, getPriority(threadId) + steps));
  } catch {
    // It works with its present priority as well.
  }
}
