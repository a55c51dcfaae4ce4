/** Timeouts of tests, all multiplied by one factor, so that a busy machine makes tests slow and not wrong. */

import { availableParallelism, loadavg } from 'node:os';
import { env } from 'node:process';

const least = 4;
const most = 40;

/** `POSTERN_TEST_PATIENCE`, or by how many wanted each core of this machine in the last minute. */
const patience = Number(env.POSTERN_TEST_PATIENCE ?? byLoad());

/** So many milliseconds of a machine with nothing else to do. */
export function patientMs(idleMs: number): number {
  return Math.ceil(idleMs * patience);
}

/** The same as a setting of a configuration. */
export function patiently(idleMs: number): string {
  return `${patientMs(idleMs)}ms`;
}

function byLoad(): number {
  const [lastMinute = 0] = loadavg();
  return Math.min(most, Math.max(least, (2 * lastMinute) / availableParallelism()));
}
