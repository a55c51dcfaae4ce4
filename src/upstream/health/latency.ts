/** A target's recent latency: a moving average for comparison, and its 95th percentile. */

/** After this long without a call, about a third of the moving time is left. */
const timeConstantMs = 10_000;
/** How much a call weighs that follows the one before at once; after a silence it weighs more. */
const leastWeight = 0.1;

/** What is older says nothing of now. */
const shownMs = 5 * 60_000;

const keptSamples = 128;
const leastSamples = 20;
/** So many further samples change the percentile too little to sort for it again. */
const samplesPerSorting = 16;

export class Latency {
  #meanMs = 0;
  #latestAtMs = Number.NEGATIVE_INFINITY;

  /** Made with the first call: most of many targets are never called. */
  #samples: Float64Array | undefined = undefined;
  #recorded = 0;
  #percentileMs: number | undefined = undefined;
  #recordedAtSorting = 0;

  record(ms: number, nowMs: number): void {
    this.#meanMs += (ms - this.#meanMs) * (1 - (1 - leastWeight) * this.#remainder(nowMs));
    this.#latestAtMs = nowMs;
    this.#samples ??= new Float64Array(keptSamples);
    this.#samples[this.#recorded % keptSamples] = ms;
    this.#recorded += 1;
  }

  /** Fades while no call is made, so that a target that was slow is tried again. */
  movingMs(nowMs: number): number {
    return this.#meanMs * this.#remainder(nowMs);
  }

  /** As it was measured, however long ago that was within `shownMs`: for people, whom a fading figure would deceive. */
  measuredMs(nowMs: number): number {
    return nowMs - this.#latestAtMs > shownMs ? 0 : this.#meanMs;
  }

  /** What nineteen of twenty of the latest calls kept within; undefined while too few are known. */
  percentile95Ms(): number | undefined {
    if (this.#samples === undefined || this.#recorded < leastSamples) return undefined;
    if (this.#percentileMs === undefined || this.#recorded - this.#recordedAtSorting >= samplesPerSorting) {
      const sorted = this.#samples.slice(0, this.#recorded).sort();
      this.#percentileMs = sorted[Math.ceil(sorted.length * 0.95) - 1];
      this.#recordedAtSorting = this.#recorded;
    }
    return this.#percentileMs;
  }

  #remainder(nowMs: number): number {
    return Math.exp((this.#latestAtMs - nowMs) / timeConstantMs);
  }
}
