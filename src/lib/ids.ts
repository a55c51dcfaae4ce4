/** Random IDs that sort by creation time: 12 hex digits of milliseconds, 20 random ones. */

import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const randomBytesPerId = 10;
const digitsPerId = 2 * randomBytesPerId;
const pool = Buffer.allocUnsafe(randomBytesPerId * 256);
/** The pool as hex digits. An ID is a slice of it, and keeps all of it: it is no longer for that. */
let digits = '';
let used = 0;

/** Of the latest time: many IDs are made in the same millisecond. */
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
