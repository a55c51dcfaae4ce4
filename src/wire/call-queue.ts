/** Keeps the calls that wait for a connection, in order. */

import type { ClientCall } from './client-call.ts';

/** Positions at the front that are empty are removed when there are at least this many. */
const portion = 1_024;

/** A queue in a list with gaps. A Set would cost more: see the buckets of the wheel. */
export class CallQueue {
  #calls: (ClientCall | undefined)[] = [];
  #from = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(call: ClientCall): void {
    this.#calls.push(call);
    this.#size += 1;
  }

  /** Begins to measure the wait of calls for which a connection was expected until now. */
  wait(nowMs: number): void {
    for (const call of this.#calls) if (call !== undefined) call.waitsSinceMs ??= nowMs;
  }

  remove(call: ClientCall): void {
    const at = this.#calls.indexOf(call, this.#from);
    if (at === -1) return;
    this.#calls[at] = undefined;
    this.#size -= 1;
    if (this.#size === 0) this.#clear();
  }

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
