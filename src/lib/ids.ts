/** IDs that sort by the time they were made and cannot be guessed: 12 hex digits of milliseconds, 20 of chance. */

import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const randomBytesPerId = 10;
const pool = Buffer.allocUnsafe(randomBytesPerId * 512);
let used = pool.length;

/** Of the latest time: many IDs are made in the same millisecond. */
let timeMs = -1;
let timeText = '';

export function createId(nowMs: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const chance = pool.toString('hex', used, used + randomBytesPerId);
  used += randomBytesPerId;
  if (nowMs !== timeMs) {
    timeMs = nowMs;
    timeText = nowMs.toString(16).padStart(12, '0');
  }
  return timeText + chance;
}
