/** A frame: what was written in one turn of the event loop, with a head by which a reader knows that it is whole. */

import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

/**
 * Four bytes each of mark, checksum and length, and eight of time. The checksum is over all that follows it. The mark begins
 * with a byte that no text has, so that what clients send can never look like a frame. The text ends with a line end: where
 * the last byte of a frame is 0, it was not written to its end.
 */
export const headBytes = 20;
const mark = Buffer.from([0xff, 0x50, 0x4a, 0x01]);
export const markBytes = mark.length;
export const lineEnd = 0x0a;
const markNumber = mark.readUInt32LE(0);
const checksumAt = 4;
const lengthAt = 8;
const timeAt = 12;

/** A buffer that grew beyond this is not kept. */
const keptBytes = 4 * 1024 * 1024;

export class FrameWriter {
  #buffer = Buffer.alloc(64 * 1024);

  /** Good until the next call. */
  encode(text: string, nowMs: number): Buffer {
    // A character is three bytes of UTF-8 at most.
    const mostBytes = headBytes + text.length * 3;
    if (mostBytes > this.#buffer.length || this.#buffer.length > keptBytes) {
      this.#buffer = Buffer.alloc(2 ** Math.ceil(Math.log2(Math.max(mostBytes, 64 * 1024))));
    }
    const buffer = this.#buffer;
    const length = buffer.write(text, headBytes, 'utf8');
    buffer.writeUInt32LE(markNumber, 0);
    buffer.writeUInt32LE(length, lengthAt);
    buffer.writeDoubleLE(nowMs, timeAt);
    const frame = buffer.subarray(0, headBytes + length);
    buffer.writeUInt32LE(crc32(frame.subarray(lengthAt)), checksumAt);
    return frame;
  }
}

export interface FrameHead {
  /** Of the text. */
  readonly length: number;
  readonly atMs: number;
}

/** Undefined where no head stands. `bytes` holds at least a head's. */
export function readHead(bytes: Buffer, offset: number): FrameHead | undefined {
  if (bytes.readUInt32LE(offset) !== markNumber) return undefined;
  return { length: bytes.readUInt32LE(offset + lengthAt), atMs: bytes.readDoubleLE(offset + timeAt) };
}

/** `bytes` holds the whole frame. */
export function isWhole(bytes: Buffer, offset: number, { length }: FrameHead): boolean {
  const checked = bytes.subarray(offset + lengthAt, offset + headBytes + length);
  return crc32(checked) === bytes.readUInt32LE(offset + checksumAt);
}

export function findMark(bytes: Buffer, from: number): number {
  return bytes.indexOf(mark, from);
}
