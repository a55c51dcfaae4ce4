/** Reserves memory for parsed bodies: many small values take far more memory than their text. */

import { GatewayError } from '../core/errors.ts';
import type { MemoryLease } from '../core/memory-lease.ts';

/** Bytes that are counted for each parsed value: a small object takes a hundred, or two hundred where its member names are unique. */
const bytesPerValue = 100;

export class ParsingMemory {
  readonly #memory: MemoryLease | undefined;
  readonly #bodyBytes: number;

  /** `memory`: the lease for the body, which grows by what is parsed of it. */
  constructor(memory: MemoryLease | undefined) {
    this.#memory = memory;
    this.#bodyBytes = memory?.bytes ?? 0;
  }

  /** Called with the number of parsed values. Throws where there is no memory for more. */
  readonly take = (values: number): void => {
    if (this.#memory === undefined || this.#memory.growTo(this.#bodyBytes + values * bytesPerValue)) return;
    throw new GatewayError('overloaded', {
      message:
        'There is no memory left for what is in request bodies (server.body_memory), and this one holds many values; try again in 1 s, or send it in smaller requests.',
      headers: ['Retry-After', '1'],
      cause: 'memory for request bodies: none left for what is read of one',
    });
  };

  /** Like `take`, for a number of bytes instead of values. */
  readonly takeBytes = (bytes: number): void => this.take(Math.ceil(bytes / bytesPerValue));

  release(): void {
    this.#memory?.shrinkTo(this.#bodyBytes);
  }
}
