/** Lowers the priority of the current thread. */

import { readlinkSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** On Linux, where a thread has a priority of its own; elsewhere, and where it may not, nothing changes. */
export function yieldToOthers(steps: number): void {
  if (process.platform !== 'linux') return;
  try {
    const [processId, , threadId] = readlinkSync('/proc/thread-self').split('/').map(Number);
    // Whose /proc it is, a container may not be sure: another's numbers are other threads.
    if (threadId === undefined || processId !== process.pid) return;
    setPriority(threadId, Math.min(constants.priority.PRIORITY_LOW, getPriority(threadId) + steps));
  } catch {
    // It works as well with the priority that it has.
  }
}
