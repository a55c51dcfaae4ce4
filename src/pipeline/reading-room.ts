/** Room for what is read of a body, beside the body: many small values take far more memory than their text. */

import { GatewayError } from '../core/errors.ts';
import type { Room } from '../core/room.ts';

/** An object with a few members takes a hundred, or two where no other has members of these names. */
const bytesPerValue = 100;

export class ReadingRoom {
  readonly #room: Room | undefined;
  readonly #bodyBytes: number;

  /** `room`: of the body, and of all that is read of it. */
  constructor(room: Room | undefined) {
    this.#room = room;
    this.#bodyBytes = room?.bytes ?? 0;
  }

  /** So many values have been read. Throws where there is no room for more. */
  readonly take = (values: number): void => {
    if (this.#room === undefined || this.#room.growTo(this.#bodyBytes + values * bytesPerValue)) return;
    throw new GatewayError('overloaded', {
      message:
        'There is no memory left for what is in request bodies (server.body_memory), and this one holds many values; try again in 1 s, or send it in smaller requests.',
      headers: ['Retry-After', '1'],
      cause: 'memory for request bodies: none left for what is read of one',
    });
  };

  /** For bytes that are written beside it. */
  readonly takeBytes = (bytes: number): void => this.take(Math.ceil(bytes / bytesPerValue));

  /** Nobody holds what was read any more. */
  release(): void {
    this.#room?.shrinkTo(this.#bodyBytes);
  }
}
