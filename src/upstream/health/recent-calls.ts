/** Counts calls and failures of the last five minutes for display; routing does not use them. */

const slotMs = 10_000;
const slots = 30;

/** Shared by all targets that were never called, as most of many targets: nothing is ever added to it. */
const none = new Uint32Array(slots);

export class RecentCalls {
  #calls = none;
  #failed = none;
  #slot = 0;
  wasCalled = false;

  add(nowMs: number, isFailure: boolean): void {
    const at = this.#goTo(nowMs);
    if (!this.wasCalled) {
      this.#calls = new Uint32Array(slots);
      this.#failed = new Uint32Array(slots);
    }
    this.wasCalled = true;
    this.#calls[at] = (this.#calls[at] ?? 0) + 1;
    if (isFailure) this.#failed[at] = (this.#failed[at] ?? 0) + 1;
  }

  /** A call counted as a success broke off after all. */
  broke(nowMs: number): void {
    const at = this.#goTo(nowMs);
    if (this.wasCalled) this.#failed[at] = (this.#failed[at] ?? 0) + 1;
  }

  /** A failure was the request's fault after all. */
  forgive(nowMs: number): void {
    const at = this.#goTo(nowMs);
    this.#failed[at] = Math.max(0, (this.#failed[at] ?? 0) - 1);
  }

  sums(nowMs: number): { readonly calls: number; readonly failedCalls: number } {
    this.#goTo(nowMs);
    const calls = this.#calls.reduce((sum, count) => sum + count, 0);
    const failed = this.#failed.reduce((sum, count) => sum + count, 0);
    // A call may have begun in a slot that has expired since.
    return { calls, failedCalls: Math.min(failed, calls) };
  }

  #goTo(nowMs: number): number {
    const slot = Math.floor(nowMs / slotMs);
    if (!this.wasCalled) this.#slot = slot;
    if (slot - this.#slot >= slots) {
      this.#calls.fill(0);
      this.#failed.fill(0);
    } else {
      for (let next = this.#slot + 1; next <= slot; next += 1) {
        this.#calls[next % slots] = 0;
        this.#failed[next % slots] = 0;
      }
    }
    this.#slot = Math.max(slot, this.#slot);
    return this.#slot % slots;
  }
}
