/** Memory reserved for responses while they are translated, and until the client has them. */

import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { MemoryLease, MemoryPool } from '../core/memory-lease.ts';
import type { Failure, Listening } from '../core/outcome.ts';

/** The received bytes, and the value parsed from them. */
const countsTimes = 2;
/** Minimum of one request for memory. */
const shortestStepBytes = 16 * 1024;
const longestStepBytes = 1024 ** 2;

/** The memory of one conversation with an upstream, a part of its exchange's. */
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

  /** Before an answer of announced length is read. Waits only where its exchange holds nothing yet. */
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

  /** Replaces the memory of the read bytes by that of the result. */
  settle(bytes: number): Failure | undefined {
    const memory = this.#exchange.answerLease;
    if (memory === undefined) return undefined;
    const others = memory.bytes - this.#drawnBytes;
    if (!memory.growTo(others + bytes)) return full;
    memory.shrinkTo(others + bytes);
    this.#drawnBytes = bytes;
    return undefined;
  }

  /** Nothing of it goes to the client. */
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

/** The upstream has answered, and is paid: calling another would not help. */
const full: Failure = Object.freeze({
  code: 'overloaded',
  message:
    'The upstream has answered, and there is no memory left to translate its answer (server.body_memory); try again in 1 s, or ask for less at once.',
  cause: 'memory for translated answers: none left for one that grows',
  ours: true,
  isFinal: true,
  retryAfterS: 1,
});
