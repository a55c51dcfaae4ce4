/** Several conversations draw from one room for answers, which is their exchange's: none waits while another holds some. */

import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { Room, RoomKeeper, RoomSeeker } from '../../core/room.ts';

export class SharedRooms implements RoomKeeper {
  readonly #exchange: Exchange;
  readonly #rooms: RoomKeeper;
  #entering: Promise<Room> | undefined = undefined;

  constructor(exchange: Exchange, rooms: RoomKeeper) {
    this.#exchange = exchange;
    this.#rooms = rooms;
  }

  async enter(seeker: RoomSeeker, bytes: number): Promise<Room> {
    // The room of an exchange ends with its client. What is read on after that holds its own.
    if (this.#exchange.client.gone) return this.#rooms.enter(seeker, bytes);
    if (this.#exchange.answerRoom === undefined && this.#entering === undefined) {
      this.#entering = this.#enterFirst(seeker, bytes);
      return new Share(await this.#entering, bytes);
    }
    const room = this.#exchange.answerRoom ?? (await this.#entering);
    const share = room && new Share(room, 0);
    if (share?.growTo(bytes) === true) return share;
    throw new GatewayError('overloaded', { cause: 'memory for translated answers: none left for one of several' });
  }

  async #enterFirst(seeker: RoomSeeker, bytes: number): Promise<Room> {
    const { client } = this.#exchange;
    const room = await this.#rooms.enter({ ...seeker, client }, bytes);
    if (client.gone) room.release();
    this.#exchange.answerRoom = room;
    return room;
  }
}

/** What one of them holds of it. */
class Share implements Room {
  bytes: number;
  readonly #whole: Room;

  constructor(whole: Room, bytes: number) {
    this.#whole = whole;
    this.bytes = bytes;
  }

  growTo(bytes: number): boolean {
    const others = this.#whole.bytes - this.bytes;
    if (!this.#whole.growTo(others + bytes)) return false;
    this.bytes = Math.max(this.bytes, bytes);
    return true;
  }

  shrinkTo(bytes: number): void {
    if (bytes >= this.bytes) return;
    this.#whole.shrinkTo(this.#whole.bytes - this.bytes + bytes);
    this.bytes = bytes;
  }

  release(): void {
    this.shrinkTo(0);
  }
}
