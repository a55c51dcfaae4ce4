/** Reads a file with some spans replaced by other texts; a hundred thousand replacements take no memory beyond their positions. */

import { Buffer } from 'node:buffer';
import type { StoredBytes } from './file-bytes.ts';

/** The spans to replace, in their order in the file, without overlaps. */
export interface Patches {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly text: Buffer;
}

export class PatchedBytes implements StoredBytes {
  readonly length: number;
  readonly #bytes: StoredBytes;
  readonly #patches: Patches;
  readonly #offsets: readonly number[];

  constructor(bytes: StoredBytes, patches: Patches) {
    this.#bytes = bytes;
    this.#patches = patches;
    let more = 0;
    this.#offsets = patches.starts.map((start, index) => {
      const position = start + more;
      more += patches.text.length - ((patches.ends[index] ?? start) - start);
      return position;
    });
    this.length = bytes.length + more;
  }

  subarray(start: number, end: number): StoredBytes {
    return new Slice(this, start, Math.min(end, this.length));
  }

  async read(at: number, mostBytes: number): Promise<Buffer> {
    const end = Math.min(at + mostBytes, this.length);
    const { text } = this.#patches;
    const pieces: Buffer[] = [];
    const from = this.#sourceOf(at, this.#lastBefore(at));
    const source = await this.#whole(from, this.#sourceOf(end, this.#lastBefore(end)));
    let index = this.#lastBefore(at);
    for (let position = at; position < end; ) {
      const behind = index < 0 ? 0 : (this.#offsets[index] ?? 0) + text.length;
      if (index >= 0 && position < behind) {
        const offset = position - (behind - text.length);
        pieces.push(text.subarray(offset, offset + end - position));
        position = Math.min(behind, end);
        continue;
      }
      const next = Math.min(this.#offsets[index + 1] ?? end, end);
      const start = this.#sourceOf(position, index) - from;
      pieces.push(source.subarray(start, start + next - position));
      position = next;
      index += 1;
    }
    return Buffer.concat(pieces);
  }

  /** Index of the last patch at or before an offset of the result; -1 where there is none. */
  #lastBefore(position: number): number {
    let low = 0;
    let high = this.#offsets.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#offsets[middle] ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** The offset in the file of an offset in the result, which is at or after the patch of this index. */
  #sourceOf(position: number, index: number): number {
    if (index < 0) return position;
    const behind = (this.#offsets[index] ?? 0) + this.#patches.text.length;
    return (this.#patches.ends[index] ?? 0) + Math.max(position - behind, 0);
  }

  async #whole(start: number, end: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let at = start; at < end; ) {
      const piece = await this.#bytes.read(at, end - at);
      pieces.push(piece);
      at += piece.length;
    }
    return Buffer.concat(pieces);
  }
}

class Slice implements StoredBytes {
  readonly length: number;
  readonly #whole: StoredBytes;
  readonly #start: number;

  constructor(whole: StoredBytes, start: number, end: number) {
    this.#whole = whole;
    this.#start = start;
    this.length = end - start;
  }

  subarray(start: number, end: number): StoredBytes {
    return new Slice(this.#whole, this.#start + start, this.#start + Math.min(end, this.length));
  }

  read(at: number, mostBytes: number): Promise<Buffer> {
    return this.#whole.read(this.#start + at, Math.min(mostBytes, this.length - at));
  }
}
