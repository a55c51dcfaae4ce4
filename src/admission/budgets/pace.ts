/** How quickly a budget is spent here: how much to draw ahead, and how much of what was drawn nobody needs. */

/** Spending is measured over such spans, and a draw is for five of them. */
const windowMs = 2_000;
const windowsAhead = 5;

export class Pace {
  #startedMs: number;
  #costNanos = 0;
  #costBeforeNanos = 0;
  /** The least that was at hand within the window: so much was not needed. */
  #lowNanos = 0;
  #lastTakenNanos = 0;

  constructor(nowMs: number) {
    this.#startedMs = nowMs;
  }

  took(nanos: number, leftNanos: number): void {
    if (nanos > 0) this.#lastTakenNanos = nanos;
    if (leftNanos < this.#lowNanos) this.#lowNanos = leftNanos;
  }

  cost(nanos: number): void {
    this.#costNanos += nanos;
  }

  /** Once a window is over: what was not needed within it and will not be soon. A little stays for the next request. */
  turn(nowMs: number, atHandNanos: number): number {
    const passedMs = nowMs - this.#startedMs;
    if (passedMs < windowMs) return 0;
    const keepNanos = Math.max(this.aheadNanos, this.#lastTakenNanos);
    // What is hardly more than that would be drawn again at once.
    const surplusNanos = this.#lowNanos > 2 * keepNanos ? this.#lowNanos - keepNanos : 0;
    this.#costBeforeNanos = passedMs < 2 * windowMs ? this.#costNanos : 0;
    this.#costNanos = 0;
    this.#lowNanos = atHandNanos;
    this.#startedMs = nowMs;
    return surplusNanos;
  }

  /** What ten seconds cost, as things go. */
  get aheadNanos(): number {
    return windowsAhead * Math.max(this.#costNanos, this.#costBeforeNanos);
  }
}
