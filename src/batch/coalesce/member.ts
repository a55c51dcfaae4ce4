/** A request that waits for others, to be asked for with them. */

import type { ReadPart } from '../../core/lists.ts';
import type { Found } from '../found.ts';
import type { Inquiry } from '../part-asker.ts';
import type { Slot } from '../slot.ts';

type Take = (slots: readonly Slot[], found: readonly Found[], part: ReadPart) => void;

export class Member {
  /** The ID of whose it is. */
  readonly key: string;
  readonly inquiry: Inquiry;
  readonly slots: readonly Slot[];
  /** Resolves when nothing more comes of it. */
  readonly over: Promise<void>;
  hasLeft = false;
  /** Once it is asked for: is told when somebody leaves. */
  onLeft: (() => void) | undefined = undefined;
  readonly #end: () => void;
  readonly #take: Take;

  constructor(key: string, inquiry: Inquiry, slots: readonly Slot[], take: Take) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.key = key;
    this.inquiry = inquiry;
    this.slots = slots;
    this.over = promise;
    this.#end = resolve;
    this.#take = take;
  }

  take(...taken: Parameters<Take>): void {
    if (!this.hasLeft) this.#take(...taken);
  }

  end(): void {
    this.#end();
  }

  /** Its client has gone, or no longer waits. */
  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.onLeft?.();
    this.#end();
  }
}
