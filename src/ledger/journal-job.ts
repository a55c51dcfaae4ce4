/** What the journal has to write, and who waits for it. */

import { Buffer } from 'node:buffer';
import type { FramePlace } from './journal-records.ts';

/** What waits for the same write. */
export class Part {
  text = '';
  /** How long that is in UTF-8: counted as it comes, since to count all of it is to put it together. */
  bytes = 0;
  readonly ids: string[] = [];
  readonly #waiter = Promise.withResolvers<void>();

  get promise(): Promise<void> {
    return this.#waiter.promise;
  }

  add(text: string, bytes = Buffer.byteLength(text)): void {
    this.text += text;
    this.bytes += bytes;
  }

  resolve(): void {
    this.#waiter.resolve();
  }

  reject(error: unknown): void {
    this.#waiter.reject(error);
  }
}

/** What becomes one frame. */
export interface Job {
  readonly ends: Part | undefined;
  readonly beginnings: Part | undefined;
  /** Where it was tried already. */
  readonly places: FramePlace[];
  /** How often since it was taken up. */
  tries: number;
  /** Ends for which nobody waits any more. */
  readonly late: string;
}

export function sizeOf(part: Part | undefined): number {
  return part?.bytes ?? 0;
}

export function promiseOf(part: Part | undefined): Promise<void> | undefined {
  return part?.promise;
}
