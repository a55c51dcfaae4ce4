/** Measures a target's recent latency: a moving average for comparison, and its 95th percentile. */

/** After this time without a call, the moving average has decayed to about a third. */
const timeConstantMs = 10_000;
/** Weight of a call that follows the previous one at once; after a pause the weight is larger. */
const leastWeight = 0.1;

/** Values that are older than this are not shown. */
const shownMs = 5 * 60_000;

const keptSamples = 128;
const leastSamples = 20;
/** After this many further samples the percentile is computed again; fewer change it too little. */
const samplesPerSorting = 16;

export class Latency {
  #meanMs = 0;
  #latestAtMs = Number.NEGATIVE_INFINITY;

  /** The latest latencies; allocated at the first call, because most of many targets are never called. */
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

  /** The moving average. It decays without calls, so that a slow target is tried again. */
  movingMs(nowMs: number): number {
    return this.#meanMs * this.#remainder(nowMs);
  }

  /** The average as measured, without decay, to be shown to people; 0 if it is too old. */
  measuredMs(nowMs: number): number {
    return nowMs - this.#latestAtMs > shownMs ? 0 : this.#meanMs;
  }

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
