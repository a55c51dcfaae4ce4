/** Shares one memory lease among the calls for a request's parts, so that none waits for memory that another one holds. */

import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { LeaseRequest, MemoryLease, MemoryPool } from '../../core/memory-lease.ts';

export class SharedMemory implements MemoryPool {
  readonly #exchange: Exchange;
  readonly #pool: MemoryPool;
  #entering: Promise<MemoryLease> | undefined = undefined;

  constructor(exchange: Exchange, pool: MemoryPool) {
    this.#exchange = exchange;
    this.#pool = pool;
  }

  async enter(leaseRequest: LeaseRequest, bytes: number): Promise<MemoryLease> {
    // The memory of an exchange ends with its client: calls that are read on after that get a lease of their own.
    if (this.#exchange.client.gone) return this.#pool.enter(leaseRequest, bytes);
    const isFirst = this.#exchange.answerLease === undefined && this.#entering === undefined;
    if (isFirst) this.#entering = this.#enterFirst(leaseRequest, bytes);
    const memory = this.#exchange.answerLease ?? (await this.#entering);
    const share = memory && new Share(memory, isFirst ? bytes : 0);
    if (share?.growTo(bytes) === true) return share;
    throw new GatewayError('overloaded', { cause: 'memory for translated answers: none left for one of several' });
  }

  async #enterFirst(leaseRequest: LeaseRequest, bytes: number): Promise<MemoryLease> {
    const { client } = this.#exchange;
    const memory = await this.#pool.enter({ ...leaseRequest, client }, bytes);
    if (client.gone) memory.release();
    this.#exchange.answerLease = memory;
    return memory;
  }
}

class Share implements MemoryLease {
  bytes: number;
  readonly #whole: MemoryLease;

  constructor(whole: MemoryLease, bytes: number) {
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
