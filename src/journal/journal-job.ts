/** Collects items for the next journal write, and notifies those who wait for it. */

import { Buffer } from 'node:buffer';
import type { LedgerWaiter } from '../core/accounting/spending.ts';
import type { Name, RowItem } from './journal-items.ts';
import type { FramePosition } from './journal-records.ts';

const usualBytes = 8_192;
let lastNumber = 0;

/** Items that are written together, and the waiters for this write. */
export class Part {
  buffer: Buffer;
  length = 0;
  readonly names: Name[] = [];
  readonly ids: string[] = [];
  readonly #number = ++lastNumber;
  #nameBytes = 0;
  #promised: PromiseWithResolvers<void> | undefined = undefined;
  readonly #waiters: LedgerWaiter[] = [];

  constructor(buffer: Buffer = Buffer.allocUnsafeSlow(usualBytes)) {
    this.buffer = buffer;
  }

  get promise(): Promise<void> {
    this.#promised ??= Promise.withResolvers<void>();
    return this.#promised.promise;
  }

  wait(waiter: LedgerWaiter): void {
    this.#waiters.push(waiter);
  }

  /** Upper bound of the part's size in a frame. */
  get bytes(): number {
    return this.length + this.#nameBytes;
  }

  add({ buffer, length, names }: RowItem): void {
    const needed = this.length + length;
    if (needed > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(needed)));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    buffer.copy(this.buffer, this.length, 0, length);
    this.length = needed;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index];
      if (name === undefined || !name.enter(this.#number)) continue;
      this.names.push(name);
      this.#nameBytes += name.bytes;
    }
  }

  resolve(): void {
    this.#promised?.resolve();
    for (const waiter of this.#waiters) waiter.onWritten();
  }

  reject(error: unknown): void {
    this.#promised?.reject(error);
    for (const waiter of this.#waiters) waiter.onNotWritten(error);
  }
}

export interface Job {
  readonly ends: Part | undefined;
  readonly beginnings: Part | undefined;
  /** Positions in segments at which earlier attempts tried to write. */
  readonly positions: FramePosition[];
  tries: number;
  /** Ends of exchanges whose clients no longer wait. */
  readonly late: Part | undefined;
}

export function sizeOf(part: Part | undefined): number {
  return part?.bytes ?? 0;
}

export function promiseOf(part: Part | undefined): Promise<void> | undefined {
  return part?.promise;
}
