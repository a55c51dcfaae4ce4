/** Requests that wait for memory: first in, first out within a key, and keys in rotation. */

/** What blocks a waiter: nothing, its key's share, or the total. */
export type Obstacle = 'none' | 'share' | 'total';

interface Waiting {
  readonly key: string;
}

export class LeaseQueue<T extends Waiting> {
  /** In the order of their turns. */
  readonly #keys = new Map<string, Set<T>>();
  size = 0;
  /** A waiter within its key's share does not fit the total: no other may pass it. */
  isBlocked = false;

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** How many requests of this key wait. */
  waitingOf(key: string): number {
    return this.#keys.get(key)?.size ?? 0;
  }

  add(waiter: T): void {
    const own = this.#keys.get(waiter.key);
    if (own === undefined) this.#keys.set(waiter.key, new Set([waiter]));
    else own.add(waiter);
    this.size += 1;
  }

  /** No effect for one that does not wait. */
  remove(waiter: T): void {
    const own = this.#keys.get(waiter.key);
    if (own?.delete(waiter) !== true) return;
    this.size -= 1;
    if (own.size === 0) this.#keys.delete(waiter.key);
  }

  /** Removes the next unblocked waiter; its key then goes to the end. */
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
