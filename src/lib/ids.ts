/** Makes random IDs that sort by creation time: 12 hex digits of milliseconds, 20 random ones. */

import { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';

const randomBytesPerId = 10;
const digitsPerId = 2 * randomBytesPerId;
const pool = Buffer.allocUnsafe(randomBytesPerId * 256);
/** A supply of random hex digits. It is short, as each ID is a slice that keeps all of it in memory. */
let digits = '';
let used = 0;

/** The latest time whose digits are cached: many IDs are made within one millisecond. */
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
