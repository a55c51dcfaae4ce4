/** Random IDs that sort by creation time: 12 hex digits of milliseconds, 20 random ones. */

import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const randomBytesPerId = 10;
const digitsPerId = 2 * randomBytesPerId;
const pool = Buffer.allocUnsafe(randomBytesPerId * 256);
/** Random bytes as hex digits, in a pool. It is short, as an ID is a slice that keeps all of it. */
let digits = '';
let used = 0;

/** The latest time, cached: many IDs are made within one millisecond. */
let timeMs = -1;
let timeText = '';

export function createId(nowMs: number): string {
  if (used === digits.length) {
    digits = randomFillSync(pool).toString('hex');
    used = 0;
  }
  const chance = digits.slice(used, used + digitsPerId);
  used += digitsPerId;
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeText = nowMs.toString(16).padStart(12, '0');
  }
  return timeText + chance;
}
