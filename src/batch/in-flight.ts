/** Items that somebody is asking for at this moment: whoever wants the same waits for that. */

import type { Found } from './found.ts';

interface Sought {
  readonly key: string;
  readonly found: Found | undefined;
}

interface Seeking {
  readonly found: Promise<Found | undefined>;
  resolve(found: Found | undefined): void;
}

export class InFlight {
  readonly #seeking = new Map<string, Seeking>();

  /** What is left to ask for, which is sought from now on; and what others seek. */
  divide<T extends Sought>(
    wanted: readonly T[],
  ): { own: T[]; others: { readonly entry: T; readonly found: Promise<Found | undefined> }[] } {
    const own: T[] = [];
    const others: { entry: T; found: Promise<Found | undefined> }[] = [];
    for (const entry of wanted) {
      const other = this.#seeking.get(entry.key);
      if (other !== undefined) {
        others.push({ entry, found: other.found });
        continue;
      }
      const { promise, resolve } = Promise.withResolvers<Found | undefined>();
      this.#seeking.set(entry.key, { found: promise, resolve });
      own.push(entry);
    }
    return { own, others };
  }

  found(entries: readonly Sought[]): void {
    for (const { key, found } of entries) this.#seeking.get(key)?.resolve(found);
  }

  /** Whoever waits for what was not found asks for it. */
  over(own: readonly Sought[]): void {
    for (const { key } of own) {
      this.#seeking.get(key)?.resolve(undefined);
      this.#seeking.delete(key);
    }
  }

  get size(): number {
    return this.#seeking.size;
  }
}
