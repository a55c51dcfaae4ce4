/** How often calls to one upstream may be repeated: a share of the requests, so that repeating cannot bury it. */

// In thousandths of a repetition: whole numbers add up exactly.
const repetition = 1_000;
const perRequest = 200;
/** 10 a second. */
const perMs = 10;
const mostStored = 50 * repetition;
const atStart = 20 * repetition;

export class RetryBudget {
  #stored = atStart;
  #filledAtMs: number | undefined = undefined;

  /** A client's request came, whatever becomes of it. */
  deposit(): void {
    this.#store(perRequest);
  }

  /** Whether one more call may be repeated; if so, it is paid for. */
  tryTake(nowMs: number): boolean {
    this.#store((nowMs - (this.#filledAtMs ?? nowMs)) * perMs);
    this.#filledAtMs = nowMs;
    if (this.#stored < repetition) return false;
    this.#stored -= repetition;
    return true;
  }

  #store(amount: number): void {
    this.#stored = Math.min(mostStored, this.#stored + amount);
  }
}
