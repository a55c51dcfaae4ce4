/** Keeps connection pools for the gateway's own requests, one per origin, created on first use. */

import { ClientPool } from './client-pool.ts';
import { type Connector, toServerAddress } from './connect.ts';
import type { Wheel } from './wheel.ts';

interface OriginPoolsOptions {
  readonly wheel: Wheel;
  readonly connections: number;
}

/** Limit of pools, more than anyone configures; a further pool replaces the oldest. */
const mostPools = 256;

export class OriginPools {
  readonly #options: OriginPoolsOptions;
  readonly #pools = new Map<string, ClientPool>();

  constructor(options: OriginPoolsOptions) {
    this.#options = options;
  }

  /** The pool for an origin. `group`: requests of different groups must not share connections. */
  of(group: string, origin: string, connector: () => Connector): ClientPool {
    const key = `${group} ${origin}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const [first] = this.#pools;
    if (first !== undefined && this.#pools.size >= mostPools) {
      this.#pools.delete(first[0]);
      void first[1].close();
    }
    const { host } = new URL(origin);
    const pool = new ClientPool({ ...this.#options, server: toServerAddress(origin), host, connect: connector() });
    this.#pools.set(key, pool);
    return pool;
  }

  destroy(): void {
    for (const pool of this.#pools.values()) pool.destroy();
    this.#pools.clear();
  }
}
