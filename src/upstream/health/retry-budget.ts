/** Retry budget of an upstream: limits retries to a share of its requests, so that they cannot overload it. */

// In thousandths of a repetition: whole numbers add up exactly.
const repetition = 1_000;
const perRequest = 200;
/** 10 a second. */
const perMs = 10;
const mostStored = 50 * repetition;
const atStart = 20 * repetition;

export class RetryBudget {
  #stored = atStart;
  #filledAtMs: number;

  constructor(nowMs: number) {
    this.#filledAtMs = nowMs;
  }

  /** A client's request comes here first, whatever becomes of it. */
  deposit(): void {
    this.#store(perRequest);
  }

  /** Whether one more call may be repeated; if so, it is paid for. */
  tryTake(nowMs: number): boolean {
    this.#store((nowMs - this.#filledAtMs) * perMs);
    this.#filledAtMs = nowMs;
    if (this.#stored < repetition) return false;
    this.#stored -= repetition;
    return true;
  }

  /** What was paid for did not leave. */
  refund(): void {
    this.#store(repetition);
  }

  #store(amount: number): void {
    this.#stored = Math.min(mostStored, this.#stored + amount);
  }
}
