/** Defines a part of a body in a file, which is read when it is sent. */

import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';

export interface StoredBytes {
  readonly length: number;
  /** A part of these bytes, without reading them. */
  subarray(start: number, end: number): StoredBytes;
  /** Reads from an offset on: at least one byte, and no more than `mostBytes`. */
  read(at: number, mostBytes: number): Promise<Buffer>;
}

export class FileBytes implements StoredBytes {
  readonly length: number;
  readonly #file: FileHandle;
  readonly #start: number;

  constructor(file: FileHandle, start: number, length: number) {
    this.#file = file;
    this.#start = start;
    this.length = length;
  }

  subarray(start: number, end: number): StoredBytes {
    return new FileBytes(this.#file, this.#start + start, Math.min(end, this.length) - start);
  }

  async read(at: number, mostBytes: number): Promise<Buffer> {
    const piece = Buffer.allocUnsafe(Math.min(mostBytes, this.length - at));
    const { bytesRead } = await this.#file.read(piece, 0, piece.length, this.#start + at);
    if (bytesRead === 0) throw new Error('the file has become shorter');
    return piece.subarray(0, bytesRead);
  }
}
