/** Requests that wait for memory: first in, first out within a key, and keys in rotation. */

/** What stands in the way of a waiter: nothing, what its key may hold, or what all together may hold. */
export type Obstacle = 'none' | 'share' | 'total';

interface Waiting {
  readonly key: string;
}

export class LeaseQueue<T extends Waiting> {
  /** In the order in which keys have their turn. */
  readonly #keys = new Map<string, Set<T>>();
  size = 0;
  /** Someone fits under what its key may hold, and not under what all may: nobody is let in ahead of it. */
  isBlocked = false;

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** How many of this key wait. */
  waitingOf(key: string): number {
    return this.#keys.get(key)?.size ?? 0;
  }

  add(waiter: T): void {
    const own = this.#keys.get(waiter.key);
    if (own === undefined) this.#keys.set(waiter.key, new Set([waiter]));
    else own.add(waiter);
    this.size += 1;
  }

  /** Does nothing for one that does not wait. */
  remove(waiter: T): void {
    const own = this.#keys.get(waiter.key);
    if (own?.delete(waiter) !== true) return;
    this.size -= 1;
    if (own.size === 0) this.#keys.delete(waiter.key);
  }

  /** Takes the next one out that nothing stands in the way of; its key has its next turn after all others. */
  next(obstacleOf: (waiter: T) => Obstacle): T | undefined {
    this.isBlocked = false;
    for (const [key, own] of this.#keys) {
      const [first] = own;
      if (first === undefined) continue;
      const obstacle = obstacleOf(first);
      if (obstacle === 'share') continue;
      if (obstacle === 'total') {
        this.isBlocked = true;
        return undefined;
      }
      this.remove(first);
      if (this.#keys.delete(key)) this.#keys.set(key, own);
      return first;
    }
    return undefined;
  }
}
