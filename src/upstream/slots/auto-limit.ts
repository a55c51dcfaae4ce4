/** Learns an upstream's best concurrency with a gradient limiter: compares latency under load with latency at fewer calls. */

/** The limit changes once in so long at most, and not before calls that began under it have been answered. */
const windowMs = 250;
const mostSamples = 10;
/** So much more than at fewer calls a call may take. */
const tolerance = 1.1;
/** One bad window takes no more than a quarter. */
const leastGradient = 0.5;
const smoothing = 0.5;
/** What is added in each window, to find out whether the upstream bears more. */
const growth = 0.1;
const refusedShare = 0.8;

/** By the clock on the wall, so that all processes that share an upstream probe together. */
const probeEveryMs = 10_000;
/** And not more often than once in so many calls' time. */
const callsBetweenProbes = 30;
/** Fewer calls than the server can batch, wherever the limit settles. */
const probeShare = 0.7;
/** Of a low limit one call more is much. */
const smallLimit = 5;
const smallProbeShare = 0.5;
/** Until calls of before have ended, in all processes; then so long calls are measured. */
const settling = { leastMs: 250, calls: 1.5 };
const measuring = { leastMs: 300, calls: 2 };
const initialLimit = 4;

/** How long calls of a target take at few calls, by the power of two of their work. */
export class Baselines {
  readonly #ms: number[] = [];
  /** How many first calls were seen. */
  readonly #first: number[] = [];
  #pending: { sum: number; count: number }[] = [];

  of(bucket: number): number | undefined {
    return this.#ms[bucket];
  }

  /** Until it was measured, the mean of the first calls counts. */
  begin(bucket: number, ms: number): void {
    const count = (this.#first[bucket] ?? 0) + 1;
    if (count > mostSamples) return;
    this.#first[bucket] = count;
    const known = this.#ms[bucket] ?? 0;
    this.#ms[bucket] = known + (ms - known) / count;
  }

  measure(bucket: number, ms: number): void {
    this.#pending[bucket] ??= { sum: 0, count: 0 };
    const pending = this.#pending[bucket];
    pending.sum += ms;
    pending.count += 1;
  }

  /** What was measured replaces what was known; one sample alone does so by half. */
  adopt(): void {
    this.#pending.forEach(({ sum, count }, bucket) => {
      const mean = sum / count;
      const known = this.#ms[bucket] ?? mean;
      this.#ms[bucket] = count > 1 ? mean : (known + mean) / 2;
      this.#first[bucket] = mostSamples;
    });
    this.forget();
  }

  /** What was measured. */
  forget(): void {
    this.#pending = [];
  }
}

export class AutoLimit {
  readonly min: number;
  readonly max: number;
  #value: number;
  /** As long as more calls cost nothing, the limit doubles. */
  #isStarting = true;
  #meanMs = 0;
  // Of the window.
  #sinceMs = 0;
  #ratios = 0;
  #samples = 0;
  #peak = 0;
  #isRefused = false;
  // Of the probe.
  #isProbing = false;
  #probeLimit = 1;
  #period = 0;
  #probedAtMs: number | undefined = undefined;
  #probeEndsMs = 0;
  /** Nobody has more calls in flight than the probe allows since then. */
  #settledAtMs = 0;
  #probeSamples = 0;
  /** How much longer calls took than was known. */
  #probeRatios = 0;
  /** At more calls, in the same probe. */
  #ratioBefore = Number.POSITIVE_INFINITY;
  #limitBefore = 0;
  readonly #measured = new Set<Baselines>();

  constructor(min: number, max: number) {
    this.min = min;
    this.max = max;
    this.#value = Math.min(max, Math.max(min, initialLimit));
  }

  /** So many calls may be in flight now. */
  get limit(): number {
    return this.#isProbing ? this.#probeLimit : Math.round(this.#value);
  }

  /** What was learned, without the probe that may be under way. */
  get learned(): number {
    return Math.round(this.#value);
  }

  /** A call was answered after `ms`. `inFlight` includes it. Times are of the monotonic clock, `epochMs` of the one on the wall. */
  served(baselines: Baselines, work: number, ms: number, inFlight: number, nowMs: number, epochMs: number): void {
    const bucket = Math.round(Math.log2(Math.max(1, work)));
    baselines.begin(bucket, ms);
    const known = baselines.of(bucket) ?? ms;
    this.#meanMs += (ms - this.#meanMs) * (this.#meanMs === 0 ? 1 : 0.05);
    this.#peak = Math.max(this.#peak, inFlight);
    if (this.#isProbing) {
      this.#measure(baselines, bucket, ms, nowMs);
      return;
    }
    // Calls that began before the limit changed say nothing of it.
    if (nowMs - ms >= this.#sinceMs) {
      this.#ratios += Math.min(tolerance, known / Math.max(ms, 0.001));
      this.#samples += 1;
    }
    const isWhole = this.#samples >= Math.min(mostSamples, Math.ceil(this.#value));
    if (isWhole && nowMs - this.#sinceMs >= Math.max(windowMs, this.#meanMs)) this.#move(nowMs);
    this.#lookWhetherToProbe(nowMs, epochMs);
  }

  /** The upstream said that these are too many calls, or that it is unavailable. */
  refused(nowMs: number): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#isStarting = false;
    this.#set(this.#value * refusedShare);
    this.#beginWindow(nowMs, true);
  }

  /** The end of a window. */
  #move(nowMs: number): void {
    const ratio = this.#ratios / this.#samples;
    const isUsed = this.#peak >= this.#value * 0.8;
    const more = Math.max(1, this.#value * growth);
    const gradient = Math.max(leastGradient, Math.min(1, ratio * tolerance));
    if (this.#isStarting && ratio * tolerance < 1) this.#isStarting = false;
    const next = this.#isStarting ? this.#value * 2 : this.#value * gradient + more;
    // What few calls take says nothing of how many there may be.
    if (next < this.#value && this.#peak * 2 >= this.#value) this.#set(this.#value + (next - this.#value) * smoothing);
    else if (next > this.#value && isUsed) this.#set(next);
    this.#beginWindow(nowMs, false);
  }

  #set(value: number): void {
    this.#value = Math.min(this.max, Math.max(this.min, value));
  }

  #beginWindow(nowMs: number, isRefused: boolean): void {
    this.#sinceMs = nowMs;
    this.#ratios = 0;
    this.#samples = 0;
    this.#peak = 0;
    this.#isRefused = isRefused;
  }

  #lookWhetherToProbe(nowMs: number, epochMs: number): void {
    const times = Math.max(1, (this.#meanMs * callsBetweenProbes) / probeEveryMs);
    const everyMs = probeEveryMs * 2 ** Math.ceil(Math.log2(times));
    const period = Math.floor(epochMs / everyMs);
    if (period === this.#period) return;
    this.#period = period;
    // The first calls were few, and calls that take longer now make periods of another length.
    if (this.#probedAtMs === undefined) this.#probedAtMs = nowMs;
    if (nowMs - this.#probedAtMs < everyMs / 2) return;
    this.#isProbing = true;
    this.#probedAtMs = nowMs;
    this.#ratioBefore = Number.POSITIVE_INFINITY;
    const share = this.#value < smallLimit ? smallProbeShare : probeShare;
    this.#probeAt(Math.max(1, Math.floor(this.#value * share)), nowMs - (epochMs - period * everyMs));
  }

  #probeAt(limit: number, fromMs: number): void {
    this.#probeLimit = limit;
    this.#probeSamples = 0;
    this.#probeRatios = 0;
    this.#settledAtMs = fromMs + Math.max(settling.leastMs, this.#meanMs * settling.calls);
    this.#probeEndsMs = this.#settledAtMs + Math.max(measuring.leastMs, this.#meanMs * measuring.calls);
  }

  #measure(baselines: Baselines, bucket: number, ms: number, nowMs: number): void {
    // Calls that began before that had more beside them.
    if (nowMs - ms >= this.#settledAtMs) {
      baselines.measure(bucket, ms);
      this.#measured.add(baselines);
      this.#probeSamples += 1;
      this.#probeRatios += ms / Math.max(baselines.of(bucket) ?? ms, 0.001);
    }
    if (nowMs >= this.#probeEndsMs) this.#endProbe(nowMs);
  }

  /** Where even few calls take longer than was known, fewer tell whether that is for their number or for another reason. */
  #endProbe(nowMs: number): void {
    const ratio = this.#probeSamples === 0 ? 1 : this.#probeRatios / this.#probeSamples;
    const isFalling = ratio < this.#ratioBefore / tolerance;
    if (ratio > tolerance && isFalling && this.#probeLimit > 1) {
      for (const one of this.#measured) one.forget();
      this.#measured.clear();
      this.#ratioBefore = ratio;
      this.#limitBefore = this.#probeLimit;
      this.#probeAt(this.#probeLimit >> 1, nowMs);
      return;
    }
    // It took longer for the number of calls: by so much as there were more than the server can batch.
    if (isFalling && this.#ratioBefore < Number.POSITIVE_INFINITY)
      this.#set(Math.min(this.#value, (this.#limitBefore / this.#ratioBefore) * (1 + growth) + 1));
    for (const one of this.#measured) one.adopt();
    this.#measured.clear();
    this.#isProbing = false;
    this.#beginWindow(nowMs, false);
  }
}
