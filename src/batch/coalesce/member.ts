/** One request that waits to be coalesced with others. */

import type { Exchange } from '../../core/exchange.ts';
import type { ReadPart } from '../../core/lists.ts';
import type { Found } from '../found.ts';
import type { Inquiry, Wanted } from '../part-asker.ts';

interface Takers {
  take(entries: readonly ListEntry[], found: readonly Found[], part: ReadPart): void;
  /** Its share of a call whose answer was not waited for. */
  owe(part: Exchange): void;
}

export class Member {
  /** The ID of whose it is. */
  readonly key: string;
  readonly inquiry: Inquiry;
  readonly entries: readonly ListEntry[];
  /** Takes its results and its share of the cost, also after it has left: its items were asked for. */
  readonly takers: Takers;
  /** Resolves when nothing more comes of it. */
  readonly over: Promise<void>;
  hasLeft = false;
  /** Once it is asked for: is told when somebody leaves. */
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

  /** Its client has gone, or no longer waits. */
  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    if (this.onLeft === undefined) this.#end();
    else this.onLeft();
  }
}

/** One item, wherever it stands in the list. */
export interface ListEntry extends Wanted {
  readonly key: string;
  found: Found | undefined;
  /** By this request: each further time that it stands in the list, and what others asked for, costs nothing. */
  isAskedFor: boolean;
}
