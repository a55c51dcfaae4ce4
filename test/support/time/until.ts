/** Waits for what a gateway, a process or a timer does by itself. */

import { setTimeout as wait } from 'node:timers/promises';
import { patientMs } from './patience.ts';

interface Waiting {
  /** Named by a failure; by default the condition's source. */
  readonly what?: string;
  /** Of a machine with nothing else to do. */
  readonly withinMs?: number;
  readonly everyMs?: number;
}

/** What one look counts at most: a process that stood still for longer saw nothing happen. */
const mostCountedMs = 500;

/** Resolves once it is so. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  { what = String(isSo), withinMs = 20_000, everyMs = 5 }: Waiting = {},
): Promise<void> {
  const limitMs = patientMs(withinMs);
  let waitedMs = 0;
  let atMs = performance.now();
  while (!(await isSo())) {
    if (waitedMs > limitMs) throw new Error(`not so within ${limitMs} ms: ${what}`);
    await wait(everyMs);
    const lookedMs = atMs;
    atMs = performance.now();
    waitedMs += Math.min(atMs - lookedMs, mostCountedMs);
  }
}
