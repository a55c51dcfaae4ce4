/** Learns an upstream's best concurrency with a gradient limiter: compares latency under load with latency at fewer calls. */

/** Shortest time between two changes of the limit; calls that began under the present limit must also have been answered. */
const windowMs = 250;
const mostSamples = 10;
/** Tolerated ratio of latency under load to latency with fewer calls. */
const tolerance = 1.1;
/** Smallest factor in one window: one bad window at most halves the limit. */
const leastGradient = 0.5;
const smoothing = 0.5;
/** Growth of the limit per window, to find out whether the upstream bears more. */
const growth = 0.1;
const refusedShare = 0.8;

/** Interval of probes by wall-clock time, so that all processes that share an upstream probe together. */
const probeEveryMs = 10_000;
/** Shortest distance between two probes, in durations of calls. */
const callsBetweenProbes = 30;
/** Share of the limit that a probe allows: fewer calls than the server can batch, whatever the limit is. */
const probeShare = 0.7;
/** Limits below this one are small: one more call is then a large change. */
const smallLimit = 5;
const smallProbeShare = 0.5;
/** How long a probe waits until earlier calls have ended in all processes; calls are then measured for the same time. */
const settling = { leastMs: 250, calls: 1.5 };
const measuring = { leastMs: 300, calls: 2 };
const initialLimit = 4;

/** The usual duration of a target's calls at low load, by the power of two of their work. */
export class Baselines {
  readonly #ms: number[] = [];
  /** How many of the first calls were counted, by power of two of their work. */
  readonly #first: number[] = [];
  #pending: { sum: number; count: number }[] = [];

  of(bucket: number): number | undefined {
    return this.#ms[bucket];
  }

  /** Adds one of the first calls: until the duration is measured by a probe, the mean of these calls is used. */
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

  /** Takes over what the probe measured; a single sample changes the known value by half. */
  adopt(): void {
    this.#pending.forEach(({ sum, count }, bucket) => {
      const mean = sum / count;
      const known = this.#ms[bucket] ?? mean;
      this.#ms[bucket] = count > 1 ? mean : (known + mean) / 2;
      this.#first[bucket] = mostSamples;
    });
    this.forget();
  }

  forget(): void {
    this.#pending = [];
  }
}

export class AutoLimit {
  readonly min: number;
  readonly max: number;
  #value: number;
  /** While true, the limit doubles as long as more calls cost no latency. */
  #isStarting = true;
  #meanMs = 0;
  // Measurements of the present window.
  #sinceMs = 0;
  #ratios = 0;
  #samples = 0;
  #peak = 0;
  #isRefused = false;
  // Measurements of the probe.
  #isProbing = false;
  #probeLimit = 1;
  #period = 0;
  #probedAtMs: number | undefined = undefined;
  #probeEndsMs = 0;
  /** Time from which no process has more calls in flight than the probe allows. */
  #settledAtMs = 0;
  #probeSamples = 0;
  /** Sum of the ratios of measured to known durations in this probe. */
  #probeRatios = 0;
  /** The ratio that was measured with more calls in the same probe. */
  #ratioBefore = Number.POSITIVE_INFINITY;
  #limitBefore = 0;
  readonly #measured = new Set<Baselines>();

  constructor(min: number, max: number) {
    this.min = min;
    this.max = max;
    this.#value = Math.min(max, Math.max(min, initialLimit));
  }

  get limit(): number {
    return this.#isProbing ? this.#probeLimit : Math.round(this.#value);
  }

  /** The learned limit without the effect of a running probe. */
  get learned(): number {
    return Math.round(this.#value);
  }

  /** Reports a call that was answered after `ms`. `inFlight` includes it. Times are monotonic; `epochMs` is wall-clock time. */
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

  /** Reports that the upstream refused a call as too many, or is unavailable. */
  refused(nowMs: number): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#isStarting = false;
    this.#set(this.#value * refusedShare);
    this.#beginWindow(nowMs, true);
  }

  #move(nowMs: number): void {
    const ratio = this.#ratios / this.#samples;
    const isUsed = this.#peak >= this.#value * 0.8;
    const more = Math.max(1, this.#value * growth);
    const gradient = Math.max(leastGradient, Math.min(1, ratio * tolerance));
    if (this.#isStarting && ratio * tolerance < 1) this.#isStarting = false;
    const next = this.#isStarting ? this.#value * 2 : this.#value * gradient + more;
    // The latency of few calls does not justify a lower limit.
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
    // No probe in the first period, which had few calls. Slower calls lengthen the periods, so half of one must have passed.
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
    // Calls that began earlier ran beside more calls than the probe allows.
    if (nowMs - ms >= this.#settledAtMs) {
      baselines.measure(bucket, ms);
      this.#measured.add(baselines);
      this.#probeSamples += 1;
      this.#probeRatios += ms / Math.max(baselines.of(bucket) ?? ms, 0.001);
    }
    if (nowMs >= this.#probeEndsMs) this.#endProbe(nowMs);
  }

  /** Ends a probe. If even few calls took longer than known, a further probe with fewer calls shows whether their number is the reason. */
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
    // The number of calls is the reason: the limit is reduced in the ratio by which that exceeds the server's batch.
    if (isFalling && this.#ratioBefore < Number.POSITIVE_INFINITY)
      this.#set(Math.min(this.#value, (this.#limitBefore / this.#ratioBefore) * (1 + growth) + 1));
    for (const one of this.#measured) one.adopt();
    this.#measured.clear();
    this.#isProbing = false;
    this.#beginWindow(nowMs, false);
  }
}
