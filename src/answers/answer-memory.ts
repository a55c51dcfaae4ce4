/** Reserves memory for responses while they are translated, and until the client has received them. */

import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { MemoryLease, MemoryPool } from '../core/memory-lease.ts';
import type { Failure, Listening } from '../core/outcome.ts';

/** Each received byte is reserved twice: for the bytes, and for the value parsed from them. */
const countsTimes = 2;
/** Bounds of one request for more memory. */
const shortestStepBytes = 16 * 1024;
const longestStepBytes = 1024 ** 2;

/** The memory that one call's answer takes, as a part of the memory of its exchange. */
export class AnswerMemory {
  readonly #exchange: Exchange;
  readonly #pool: MemoryPool;
  readonly #client: Listening;
  #readBytes = 0;
  #drawnBytes = 0;
  #beginning: Promise<Failure | undefined> | undefined = undefined;

  constructor(exchange: Exchange, pool: MemoryPool, client: Listening) {
    this.#exchange = exchange;
    this.#pool = pool;
    this.#client = client;
  }

  /** Reserves memory before an answer of announced length is read. Waits only where its exchange holds no memory yet. */
  async begin(bytes: number): Promise<Failure | undefined> {
    if (this.#exchange.answerLease !== undefined) return this.#draw(bytes);
    if (this.#beginning !== undefined) return (await this.#beginning) ?? this.#draw(bytes);
    this.#beginning = this.#enter(bytes);
    return this.#beginning;
  }

  read(bytes: number): Failure | undefined {
    this.#readBytes += bytes;
    const lackingBytes = this.#readBytes - this.#drawnBytes / countsTimes;
    if (lackingBytes <= 0) return undefined;
    const step = Math.min(longestStepBytes, Math.max(shortestStepBytes, this.#readBytes));
    return this.#draw(Math.max(lackingBytes, step));
  }

  /** Replaces the memory for the received bytes by memory for the translated result. */
  settle(bytes: number): Failure | undefined {
    const memory = this.#exchange.answerLease;
    if (memory === undefined) return undefined;
    const others = memory.bytes - this.#drawnBytes;
    if (!memory.growTo(others + bytes)) return full;
    memory.shrinkTo(others + bytes);
    this.#drawnBytes = bytes;
    return undefined;
  }

  /** Gives the memory back, for an answer of which nothing goes to the client. */
  giveBack(): void {
    const memory = this.#exchange.answerLease;
    memory?.shrinkTo(Math.max(0, memory.bytes - this.#drawnBytes));
    this.#drawnBytes = 0;
  }

  async #enter(bytes: number): Promise<Failure | undefined> {
    const { key, snapshot } = this.#exchange;
    if (key === undefined) throw new TypeError('an answer is read for a key');
    const wanted = Math.max(bytes, shortestStepBytes) * countsTimes;
    const leaseRequest = { key: key.id, client: this.#client, waitMs: snapshot.server.bodyWaitMs };
    let memory: MemoryLease;
    try {
      memory = await this.#pool.enter(leaseRequest, wanted);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { ...full, message: error.message, cause: String(error.cause ?? error.code) };
    }
    const other = this.#exchange.answerLease;
    // The client has left, and what it held is released; or a hedged call was admitted at the same time.
    if (this.#exchange.client.gone || other !== undefined) memory.release();
    this.#exchange.answerLease ??= memory;
    this.#drawnBytes = memory.bytes;
    return other && this.#draw(bytes);
  }

  #draw(bytes: number): Failure | undefined {
    const memory = this.#exchange.answerLease;
    if (memory === undefined) throw new TypeError('an answer is read before there is room for it');
    const before = memory.bytes;
    if (!memory.growTo(before + bytes * countsTimes)) return full;
    this.#drawnBytes += memory.bytes - before;
    return undefined;
  }
}

/** The failure for lack of memory. It is final: the upstream has answered and is paid, so calling another one would not help. */
const full: Failure = Object.freeze({
  code: 'overloaded',
  message:
    'The upstream has answered, and there is no memory left to translate its answer (server.body_memory); try again in 1 s, or ask for less at once.',
  cause: 'memory for translated answers: none left for one that grows',
  ours: true,
  isFinal: true,
  retryAfterS: 1,
});
