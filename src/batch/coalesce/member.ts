/** One request that waits to be coalesced with others. */

import type { Exchange } from '../../core/exchange.ts';
import type { ReadPart } from '../../core/lists.ts';
import type { Found } from '../found.ts';
import type { Inquiry, Wanted } from '../part-asker.ts';

interface Takers {
  take(entries: readonly ListEntry[], found: readonly Found[], part: ReadPart): void;
  /** Its share of a call whose answer was not awaited. */
  owe(part: Exchange): void;
}

export class Member {
  /** The ID of its key. */
  readonly key: string;
  readonly inquiry: Inquiry;
  readonly entries: readonly ListEntry[];
  /** Receives its results and its share of the cost, even after it has left: its items were requested. */
  readonly takers: Takers;
  /** Resolves when no further results follow. */
  readonly over: Promise<void>;
  hasLeft = false;
  /** Called, once the call has begun, when a member leaves. */
  onLeft: (() => void) | undefined = undefined;
  readonly #end: () => void;

  constructor(key: string, inquiry: Inquiry, entries: readonly ListEntry[], takers: Takers) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.key = key;
    this.inquiry = inquiry;
    this.entries = entries;
    this.over = promise;
    this.#end = resolve;
    this.takers = takers;
  }

  end(): void {
    this.#end();
  }

  /** Its client has left, or no longer waits. */
  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    if (this.onLeft === undefined) this.#end();
    else this.onLeft();
  }
}

/** One distinct item of the list. */
export interface ListEntry extends Wanted {
  readonly key: string;
  found: Found | undefined;
  /** Requested by this request: repeated items, and those that other requests fetched, cost nothing. */
  isAskedFor: boolean;
}
