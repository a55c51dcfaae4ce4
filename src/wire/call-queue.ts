/** Calls that wait for a connection, in order. */

import type { ClientCall } from './client-call.ts';

/** What was taken out from the front is let go of in such portions at least. */
const portion = 1_024;

/** A list with gaps, and no Set: see the buckets of the wheel. */
export class CallQueue {
  #calls: (ClientCall | undefined)[] = [];
  /** Positions before it are empty. */
  #from = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(call: ClientCall): void {
    this.#calls.push(call);
    this.#size += 1;
  }

  /** For calls that had a connection in sight until now. */
  wait(nowMs: number): void {
    for (const call of this.#calls) if (call !== undefined) call.waitsSinceMs ??= nowMs;
  }

  /** Where it does not wait, nothing happens. */
  remove(call: ClientCall): void {
    const at = this.#calls.indexOf(call, this.#from);
    if (at === -1) return;
    this.#calls[at] = undefined;
    this.#size -= 1;
    if (this.#size === 0) this.#clear();
  }

  /** Removes the call that has waited longest; undefined if there is none. */
  shift(): ClientCall | undefined {
    if (this.#size === 0) return undefined;
    let call = this.#calls[this.#from];
    while (call === undefined) {
      this.#from += 1;
      call = this.#calls[this.#from];
    }
    this.#calls[this.#from] = undefined;
    this.#from += 1;
    this.#size -= 1;
    if (this.#size === 0) this.#clear();
    else if (this.#from >= portion && this.#from * 2 >= this.#calls.length) this.#close();
    return call;
  }

  #clear(): void {
    this.#calls.length = 0;
    this.#from = 0;
  }

  #close(): void {
    this.#calls = this.#calls.slice(this.#from);
    this.#from = 0;
  }
}
