/** Retry budget of an upstream: limits retries to a share of the requests, so that retries cannot overload the upstream. */

// In thousandths of a retry: whole numbers add up exactly.
const repetition = 1_000;
const perRequest = 200;
/** Credit per millisecond, which allows 10 retries a second. */
const perMs = 10;
const mostStored = 50 * repetition;
const atStart = 20 * repetition;

export class RetryBudget {
  #stored = atStart;
  #filledAtMs: number;

  constructor(nowMs: number) {
    this.#filledAtMs = nowMs;
  }

  /** Adds credit. To be called first for every client request. */
  deposit(): void {
    this.#store(perRequest);
  }

  tryTake(nowMs: number): boolean {
    this.#store((nowMs - this.#filledAtMs) * perMs);
    this.#filledAtMs = nowMs;
    if (this.#stored < repetition) return false;
    this.#stored -= repetition;
    return true;
  }

  /** Returns the payment of a call that was not sent. */
  refund(): void {
    this.#store(repetition);
  }

  #store(amount: number): void {
    this.#stored = Math.min(mostStored, this.#stored + amount);
  }
}
