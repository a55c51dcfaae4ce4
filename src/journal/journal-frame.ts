/** A journal frame: the records of one event-loop turn, with a checksummed head. */

import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

/**
 * Four bytes each of mark, checksum and length, and eight of time. The checksum is over all that follows it. The mark begins with a byte that no text
 * has, so that clients' data can never look like a frame; its last byte is the version. Version 1 holds lines of JSON, version 2 items (see
 * journal-items.ts), and readers read both. A frame ends with a line end: where its last byte is 0, it is incomplete.
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

/** A buffer that grew beyond this is not kept. */
const keptBytes = 4 * 1024 * 1024;
const usualBytes = 64 * 1024;

export class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(usualBytes);
  #length = 0;

  /** Begins a frame of at most this size. */
  begin(mostBytes: number): void {
    if (mostBytes > this.#buffer.length || this.#buffer.length > keptBytes) {
      this.#buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(Math.max(mostBytes, usualBytes))));
    }
    this.#length = headBytes;
  }

  add(items: Buffer, length = items.length): void {
    items.copy(this.#buffer, this.#length, 0, length);
    this.#length += length;
  }

  /** Valid until the next frame begins. */
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
  /** Bytes after the head. */
  readonly length: number;
  /** Items, not text. */
  readonly isItems: boolean;
  readonly atMs: number;
}

export interface Frame {
  readonly atMs: number;
  /** Where the next one begins. */
  readonly end: number;
  /** Its lines or items; good until the next one is read. */
  readonly payload: Buffer;
  readonly isItems: boolean;
}

/** Undefined where there is no head. `bytes` has at least the size of one. */
export function readHead(bytes: Buffer, offset: number): FrameHead | undefined {
  const version = bytes.readUInt32LE(offset);
  const isItems = version === itemsMark;
  if (!isItems && version !== textMark) return undefined;
  return { length: bytes.readUInt32LE(offset + lengthAt), isItems, atMs: bytes.readDoubleLE(offset + timeAt) };
}

/** `bytes` holds the whole frame. */
export function isWhole(bytes: Buffer, offset: number, { length }: FrameHead): boolean {
  const checked = bytes.subarray(offset + lengthAt, offset + headBytes + length);
  return crc32(checked) === bytes.readUInt32LE(offset + checksumAt);
}

export function findMark(bytes: Buffer, from: number): number {
  return bytes.indexOf(mark, from);
}
