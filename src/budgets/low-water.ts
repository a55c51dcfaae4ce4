/** Computes how much of a node's drawn money was unused lately and can be returned, and the highest cost of recent requests. */

/** Money that stayed unused over a span of this length was not needed. */
const windowMs = 2_000;

export class LowWater {
  #startedMs: number;
  #lowNanos = 0;
  #largestNanos = 0;
  #largestBeforeNanos = 0;

  constructor(nowMs: number) {
    this.#startedMs = nowMs;
  }

  took(nanos: number, leftNanos: number): void {
    if (nanos > this.#largestNanos) this.#largestNanos = nanos;
    if (leftNanos < this.#lowNanos) this.#lowNanos = leftNanos;
  }

  /** The highest cost of a recent request; of an earlier span where the latest had no requests. */
  get unitNanos(): number {
    return Math.max(this.#largestNanos, this.#largestBeforeNanos);
  }

  /** At the end of a span, returns the money that was not needed, less a little for the next request; 0 before. */
  turn(nowMs: number, atHandNanos: number): number {
    if (nowMs - this.#startedMs < windowMs) return 0;
    const keepNanos = this.unitNanos;
    // A small surplus would be drawn again at once.
    const surplusNanos = this.#lowNanos > 2 * keepNanos ? this.#lowNanos - keepNanos : 0;
    if (this.#largestNanos > 0) {
      this.#largestBeforeNanos = this.#largestNanos;
      this.#largestNanos = 0;
    }
    this.#lowNanos = atHandNanos;
    this.#startedMs = nowMs;
    return surplusNanos;
  }
}
