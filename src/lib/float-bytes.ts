/** Converts lists of numbers to base64 of little-endian 32-bit floats, and back. */

import { Buffer } from 'node:buffer';
import { endianness } from 'node:os';

export function floatsToBytes(values: ArrayLike<number>): Buffer {
  return inOrder(Buffer.from(new Float32Array(values).buffer));
}

export function floatsIn(text: string): number[] {
  // The bytes are copied so that they are aligned for floats.
  const bytes = inOrder(Buffer.from(text, 'base64'));
  return Array.from(new Float32Array(new Uint8Array(bytes).buffer));
}

export const bytesPerFloat = 4;

/** Whether all floats are numbers: infinities and NaN have all exponent bits set. */
export function areFinite(bytes: Buffer): boolean {
  for (let last = bytesPerFloat - 1; last < bytes.length; last += bytesPerFloat) {
    if (((bytes[last] ?? 0) & 0x7f) === 0x7f && ((bytes[last - 1] ?? 0) & 0x80) !== 0) return false;
  }
  return true;
}

/** Converts between this machine's byte order and little-endian. */
function inOrder(bytes: Buffer): Buffer {
  return endianness() === 'LE' ? bytes : bytes.swap32();
}
