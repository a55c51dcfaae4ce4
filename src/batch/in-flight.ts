/** Makes requests for an item that is in flight wait for that call, except interactive requests for an item of a bulk call. */

import type { Lane } from '../core/lane.ts';
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
  readonly #seeking = { interactive: new Map<string, Seeking>(), bulk: new Map<string, Seeking>() };

  /** Divides the items into those to request, which now count as in flight, and those that are in flight already. */
  divide<T extends Sought>(wanted: readonly T[], lane: Lane) {
    const own: T[] = [];
    const others: { entry: T; found: Promise<Found | undefined> }[] = [];
    for (const entry of wanted) {
      const { interactive, bulk } = this.#seeking;
      const other = interactive.get(entry.key) ?? (lane === 'bulk' ? bulk.get(entry.key) : undefined);
      if (other !== undefined) {
        others.push({ entry, found: other.found });
        continue;
      }
      const { promise, resolve } = Promise.withResolvers<Found | undefined>();
      this.#seeking[lane].set(entry.key, { found: promise, resolve });
      own.push(entry);
    }
    return { own, others };
  }

  found(entries: readonly Sought[]): void {
    const { interactive, bulk } = this.#seeking;
    for (const { key, found } of entries) {
      interactive.get(key)?.resolve(found);
      bulk.get(key)?.resolve(found);
    }
  }

  /** Ends the items of a call: requests that wait for one without a result then fetch it themselves. */
  over(own: readonly Sought[], lane: Lane): void {
    const seeking = this.#seeking[lane];
    for (const { key } of own) {
      seeking.get(key)?.resolve(undefined);
      seeking.delete(key);
    }
  }

  get size(): number {
    return this.#seeking.interactive.size + this.#seeking.bulk.size;
  }
}
