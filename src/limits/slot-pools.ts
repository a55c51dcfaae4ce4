/** Shares the concurrency slots of upstreams among processes: each reports use and demand, and gets its part. */

import { type SlotClaim, type SlotGrant, waitsForMs } from '../core/slots.ts';

interface Holding {
  readonly held: number;
  readonly wants: number;
  readonly atMs: number;
}

/** For processes that have a parent to ask; the same is a script where Redis is asked. */
export class SlotPools {
  readonly #pools = new Map<string, Map<number, Holding>>();

  claim(node: number, nodes: number, { upstream, most, held, wants }: SlotClaim, nowMs: number): SlotGrant {
    let pool = this.#pools.get(upstream);
    if (pool === undefined) {
      pool = new Map();
      this.#pools.set(upstream, pool);
    }
    let others = 0;
    let wanting = 1;
    let isContended = false;
    for (const [other, holding] of pool) {
      if (other === node) continue;
      others += holding.held;
      if (holding.wants === 0 || nowMs - holding.atMs >= waitsForMs) continue;
      wanting += 1;
      if (holding.wants > holding.held) isContended = true;
    }
    const fair = Math.max(1, Math.floor(most / wanting));
    // Half of the slots lie ready, in equal parts; the other half is for whoever needs it now.
    const spare = Math.floor(most / (2 * Math.max(1, nodes)));
    const target = isContended ? Math.min(wants, fair) : wants === 0 ? 0 : Math.max(wants, spare);
    const granted = Math.max(held, Math.min(most - others, target));
    pool.set(node, { held: granted, wants, atMs: nowMs });
    return { held: granted, keep: isContended ? Math.min(wants, fair) : most };
  }

  /** It is gone, and with it its calls. */
  leave(node: number): void {
    for (const [upstream, pool] of this.#pools) {
      pool.delete(node);
      if (pool.size === 0) this.#pools.delete(upstream);
    }
  }
}
