/** Counts the calls and failures of the latest minutes, with one counter for each part of that time. */

/** Shared counters of all targets that were never called; they stay empty. With model patterns, these are most targets. */
const none = new Uint32Array(0);

export class RecentCalls {
  readonly #partMs: number;
  readonly #parts: number;
  #calls = none;
  #failed = none;
  #newestPart = 0;
  wasCalled = false;

  /** The default is the last five minutes, which are displayed. */
  constructor(partMs = 10_000, parts = 30) {
    this.#partMs = partMs;
    this.#parts = parts;
  }

  add(nowMs: number, isFailure: boolean): void {
    const at = this.#goTo(nowMs);
    if (!this.wasCalled) {
      this.#calls = new Uint32Array(this.#parts);
      this.#failed = new Uint32Array(this.#parts);
    }
    this.wasCalled = true;
    this.#calls[at] = (this.#calls[at] ?? 0) + 1;
    if (isFailure) this.#failed[at] = (this.#failed[at] ?? 0) + 1;
  }

  /** Counts one more failure: a call that was counted as a success has broken off. */
  broke(nowMs: number): void {
    const at = this.#goTo(nowMs);
    if (this.wasCalled) this.#failed[at] = (this.#failed[at] ?? 0) + 1;
  }

  forgive(nowMs: number): void {
    const at = this.#goTo(nowMs);
    this.#failed[at] = Math.max(0, (this.#failed[at] ?? 0) - 1);
  }

  takeBack(failures: number): void {
    let left = failures;
    for (let part = this.#newestPart; left > 0 && part >= 0 && part > this.#newestPart - this.#parts; part -= 1) {
      const at = part % this.#parts;
      const taken = Math.min(left, this.#failed[at] ?? 0);
      this.#failed[at] = (this.#failed[at] ?? 0) - taken;
      this.#calls[at] = Math.max(0, (this.#calls[at] ?? 0) - taken);
      left -= taken;
    }
  }

  sums(nowMs: number): { readonly calls: number; readonly failedCalls: number } {
    this.#goTo(nowMs);
    let calls = 0;
    let failed = 0;
    for (let at = 0; at < this.#calls.length; at += 1) {
      calls += this.#calls[at] ?? 0;
      failed += this.#failed[at] ?? 0;
    }
    // A call may have begun in a part that has expired since.
    return { calls, failedCalls: Math.min(failed, calls) };
  }

  clear(): void {
    this.#calls.fill(0);
    this.#failed.fill(0);
  }

  #goTo(nowMs: number): number {
    const part = Math.floor(nowMs / this.#partMs);
    if (part - this.#newestPart >= this.#parts) this.clear();
    else for (let next = this.#newestPart + 1; next <= part; next += 1) this.#empty(next % this.#parts);
    this.#newestPart = Math.max(part, this.#newestPart);
    return this.#newestPart % this.#parts;
  }

  #empty(at: number): void {
    this.#calls[at] = 0;
    this.#failed[at] = 0;
  }
}
