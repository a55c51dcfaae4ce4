/** The memory that answers hold while they are read to be translated, and what is made of them until the client has it. */

import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { Failure, Listening } from '../../core/outcome.ts';
import type { Room, RoomKeeper } from '../../core/room.ts';

/** As it came, and as what it is read into. */
const countsTimes = 2;
/** Asked for at a time. */
const shortestStepBytes = 16 * 1024;
const longestStepBytes = 1024 ** 2;

/** What one conversation with an upstream draws from the room of its exchange. */
export class AnswerRoom {
  readonly #exchange: Exchange;
  readonly #rooms: RoomKeeper;
  readonly #client: Listening;
  #readBytes = 0;
  #drawnBytes = 0;
  #beginning: Promise<Failure | undefined> | undefined = undefined;

  constructor(exchange: Exchange, rooms: RoomKeeper, client: Listening) {
    this.#exchange = exchange;
    this.#rooms = rooms;
    this.#client = client;
  }

  /** Before an answer is read, of which so much is announced. It waits where its exchange holds nothing yet, and only there. */
  async begin(bytes: number): Promise<Failure | undefined> {
    if (this.#exchange.answerRoom !== undefined) return this.#draw(bytes);
    if (this.#beginning !== undefined) return (await this.#beginning) ?? this.#draw(bytes);
    this.#beginning = this.#enter(bytes);
    return this.#beginning;
  }

  /** For what has come. */
  read(bytes: number): Failure | undefined {
    this.#readBytes += bytes;
    const lackingBytes = this.#readBytes - this.#drawnBytes / countsTimes;
    if (lackingBytes <= 0) return undefined;
    const step = Math.min(longestStepBytes, Math.max(shortestStepBytes, this.#readBytes));
    return this.#draw(Math.max(lackingBytes, step));
  }

  /** What was made of all that was read takes its place. */
  settle(bytes: number): Failure | undefined {
    const room = this.#exchange.answerRoom;
    if (room === undefined) return undefined;
    const others = room.bytes - this.#drawnBytes;
    if (!room.growTo(others + bytes)) return full;
    room.shrinkTo(others + bytes);
    this.#drawnBytes = bytes;
    return undefined;
  }

  /** Nothing of it goes to the client. */
  giveBack(): void {
    const room = this.#exchange.answerRoom;
    room?.shrinkTo(Math.max(0, room.bytes - this.#drawnBytes));
    this.#drawnBytes = 0;
  }

  async #enter(bytes: number): Promise<Failure | undefined> {
    const { key, snapshot } = this.#exchange;
    if (key === undefined) throw new TypeError('an answer is read for a key');
    const wanted = Math.max(bytes, shortestStepBytes) * countsTimes;
    const seeker = { key: key.id, client: this.#client, waitMs: snapshot.server.bodyWaitMs };
    let room: Room;
    try {
      room = await this.#rooms.enter(seeker, wanted);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { ...full, message: error.message, cause: String(error.cause ?? error.code) };
    }
    // Whoever gives it back when the client has gone has been and gone already.
    if (this.#exchange.client.gone) room.release();
    this.#exchange.answerRoom = room;
    this.#drawnBytes = room.bytes;
    return undefined;
  }

  #draw(bytes: number): Failure | undefined {
    const room = this.#exchange.answerRoom;
    if (room === undefined) throw new TypeError('an answer is read before there is room for it');
    const before = room.bytes;
    if (!room.growTo(before + bytes * countsTimes)) return full;
    this.#drawnBytes += room.bytes - before;
    return undefined;
  }
}

/** The upstream has answered, and is paid: to ask another one would not be better. */
const full: Failure = Object.freeze({
  code: 'overloaded',
  message:
    'The upstream has answered, and there is no memory left to translate its answer (server.body_memory); try again in 1 s, or ask for less at once.',
  cause: 'memory for translated answers: none left for one that grows',
  ours: true,
  isFinal: true,
  retryAfterS: 1,
});
