/** Collects bytes that arrive in pieces of any size, and copies each byte at most twice. */

import { Buffer } from 'node:buffer';

const firstBlockBytes = 1024;
const nothing = Buffer.alloc(0);

export class ByteHold {
  #bytes: Buffer = nothing;
  /** The block into which pieces are copied; empty while there is at most one piece. */
  #block: Buffer = nothing;

  get bytes(): Buffer {
    return this.#bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  push(piece: Buffer): void {
    const before = this.#bytes.length;
    if (before === 0) {
      this.#bytes = piece;
      return;
    }
    const wantedBytes = before + piece.length;
    if (this.#block.length < wantedBytes) {
      const next = Buffer.allocUnsafe(Math.max(firstBlockBytes, 2 * wantedBytes));
      this.#bytes.copy(next);
      this.#block = next;
    }
    piece.copy(this.#block, before);
    this.#bytes = this.#block.subarray(0, wantedBytes);
  }

  take(): Buffer {
    const bytes = this.#bytes;
    this.#bytes = nothing;
    this.#block = nothing;
    return bytes;
  }
}
