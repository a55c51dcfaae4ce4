/** Assembles a body from its pieces, in memory reserved beforehand and released at once. */

import { Buffer } from 'node:buffer';
import type { MemoryLease } from '../core/memory-lease.ts';
import { atOnce, timeSliced } from '../lib/time-slices.ts';

export interface Gathering {
  add(chunk: Buffer): boolean;
  /** Returns the whole body and forgets it; called once. Returns no promise for a short body. */
  whole(): Buffer | Promise<Buffer>;
  drop(): void;
}

/** Collects a body of announced length, whose memory is reserved already. */
export class AnnouncedBody implements Gathering {
  readonly #bytes: number;
  #whole: Buffer | undefined = undefined;
  #usedBytes = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  add(chunk: Buffer): boolean {
    if (chunk.length === this.#bytes) {
      this.#whole = chunk; // most come in one piece
      return true;
    }
    this.#whole ??= Buffer.allocUnsafeSlow(this.#bytes);
    this.#usedBytes += chunk.copy(this.#whole, this.#usedBytes);
    return true;
  }

  whole(): Buffer {
    const whole = this.#whole ?? Buffer.alloc(0);
    this.#whole = undefined;
    return whole;
  }

  drop(): void {
    this.#whole = undefined;
  }
}

/** Size of the first block for a body of unknown length; further blocks double the total, up to the longest block. */
export const firstBlockBytes = 16 * 1024;
const longestBlockBytes = 1024 ** 2;

export class GrowingBody implements Gathering {
  readonly #lease: MemoryLease;
  /** Further memory that a decoder uses, by the number of received bytes. */
  readonly #besideBytes: (bytes: number) => number;
  readonly #blocks: Buffer[] = [];
  #block: Buffer = Buffer.alloc(0);
  #usedBytes = 0;
  #blocksBytes = 0;
  #bytes = 0;

  constructor(lease: MemoryLease, besideBytes: (bytes: number) => number) {
    this.#lease = lease;
    this.#besideBytes = besideBytes;
  }

  add(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#usedBytes === this.#block.length && !this.#grow()) return false;
      const copied = chunk.copy(this.#block, this.#usedBytes, at);
      this.#usedBytes += copied;
      at += copied;
    }
    this.#bytes += chunk.length;
    return true;
  }

  whole(): Buffer | Promise<Buffer> {
    const joining = this.#join();
    return this.#bytes <= longestBlockBytes ? atOnce(joining) : timeSliced(joining);
  }

  *#join(): Generator<undefined, Buffer, undefined> {
    const whole = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const block of this.#blocks) {
      at += block.copy(whole, at, 0, this.#bytes - at);
      free(block);
      yield;
    }
    this.#blocks.length = 0;
    this.#lease.shrinkTo(this.#bytes);
    return whole;
  }

  drop(): void {
    this.#blocks.forEach(free);
    this.#blocks.length = 0;
    this.#block = Buffer.alloc(0);
    this.#usedBytes = 0;
  }

  #grow(): boolean {
    const next = Math.min(longestBlockBytes, Math.max(firstBlockBytes, this.#blocksBytes));
    const bytes = this.#blocksBytes + next;
    if (!this.#lease.growTo(bytes + this.#besideBytes(bytes))) return false;
    this.#block = Buffer.allocUnsafeSlow(next);
    this.#blocks.push(this.#block);
    this.#blocksBytes = bytes;
    this.#usedBytes = 0;
    return true;
  }
}

/** Releases a buffer's memory at once, not by garbage collection. A part of a larger buffer stays, as its other parts may be in use. */
export function free(own: Buffer): void {
  const { buffer } = own;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === own.length) buffer.transfer(0);
}
