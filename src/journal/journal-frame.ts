/** Writes and reads the journal's frames: each holds the records of one event-loop turn, after a head with a checksum. */

import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

/**
 * A head has four bytes each of mark, checksum and length, and eight of time. The checksum is over all that follows it. The mark begins with a byte
 * that no text has, so that clients' data can never look like a frame; its last byte is the version. Version 1 holds lines of JSON, version 2 items
 * (see journal-items.ts), and readers read both. A frame ends with a line end: where its last byte is 0, it is incomplete.
 */
export const headBytes = 20;
const mark = Buffer.from([0xff, 0x50, 0x4a]);
export const markBytes = mark.length;
export const lineEnd = 0x0a;
const textMark = Buffer.from([...mark, 1]).readUInt32LE();
const itemsMark = Buffer.from([...mark, 2]).readUInt32LE();
const checksumAt = 4;
const lengthAt = 8;
const timeAt = 12;
export const frameBytes = headBytes + 1;

const mostKeptBytes = 4 * 1024 * 1024;
const usualBytes = 64 * 1024;

export class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(usualBytes);
  #length = 0;

  begin(mostBytes: number): void {
    if (mostBytes > this.#buffer.length || this.#buffer.length > mostKeptBytes) {
      this.#buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(Math.max(mostBytes, usualBytes))));
    }
    this.#length = headBytes;
  }

  add(items: Buffer, length = items.length): void {
    items.copy(this.#buffer, this.#length, 0, length);
    this.#length += length;
  }

  /** Completes the frame; its bytes are valid until the next one begins. */
  end(nowMs: number): Buffer {
    const buffer = this.#buffer;
    buffer[this.#length++] = lineEnd;
    buffer.writeUInt32LE(itemsMark, 0);
    buffer.writeUInt32LE(this.#length - headBytes, lengthAt);
    buffer.writeDoubleLE(nowMs, timeAt);
    const frame = buffer.subarray(0, this.#length);
    buffer.writeUInt32LE(crc32(frame.subarray(lengthAt)), checksumAt);
    return frame;
  }
}

export interface FrameHead {
  /** Number of bytes after the head. */
  readonly length: number;
  /** Whether the frame holds items (version 2), not lines of text. */
  readonly isItems: boolean;
  readonly atMs: number;
}

export interface Frame {
  readonly atMs: number;
  readonly end: number;
  /** The frame's lines or items; valid until the next frame is read. */
  readonly payload: Buffer;
  readonly isItems: boolean;
}

/** Reads a frame's head; undefined where there is none. `bytes` has at least the size of a head. */
export function readHead(bytes: Buffer, offset: number): FrameHead | undefined {
  const version = bytes.readUInt32LE(offset);
  const isItems = version === itemsMark;
  if (!isItems && version !== textMark) return undefined;
  return { length: bytes.readUInt32LE(offset + lengthAt), isItems, atMs: bytes.readDoubleLE(offset + timeAt) };
}

/** Whether a frame is undamaged; `bytes` holds all of it. */
export function isWhole(bytes: Buffer, offset: number, { length }: FrameHead): boolean {
  const checked = bytes.subarray(offset + lengthAt, offset + headBytes + length);
  return crc32(checked) === bytes.readUInt32LE(offset + checksumAt);
}

export function findMark(bytes: Buffer, from: number): number {
  return bytes.indexOf(mark, from);
}
