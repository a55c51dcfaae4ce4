/**
 * A sketch of durations: counts in buckets that grow by 2 %, so that a percentile is within 1 % of the true one, and two sketches add up
 * by adding their counts (DDSketch, Masson, Rim and Lee 2019).
 */

const accuracy = 0.01;
const gamma = (1 + accuracy) / (1 - accuracy);
const perLog = 1 / Math.log(gamma);
/** Milliseconds: what is shorter counts as nothing. */
const smallest = 0.001;
const longest = 1e9;

export const bucketOf = (ms: number): number =>
  ms > smallest ? Math.ceil(Math.log(Math.min(ms, longest) / smallest) * perLog) : 0;

export const bucketCount = bucketOf(longest) + 1;

/** Every value of the bucket is within 1 % of it. */
export const middleOf = (bucket: number): number => (bucket === 0 ? 0 : (smallest * 2 * gamma ** bucket) / (gamma + 1));

/** No value of the bucket is above it. */
export const boundOf = (bucket: number): number => smallest * gamma ** bucket;

/** Buckets and their counts in turn, in any order, a bucket more than once or not. */
export type Pairs = number[];

/** The counts of pairs by bucket, for one look at a time. */
export class Counts {
  readonly #counts = new Float64Array(bucketCount);
  first = bucketCount;
  last = -1;
  total = 0;

  add(pairs: readonly number[]): void {
    for (let at = 0; at + 1 < pairs.length; at += 2) this.#addTo(pairs[at] ?? 0, pairs[at + 1] ?? 0);
  }

  #addTo(bucket: number, count: number): void {
    this.#counts[bucket] = this.of(bucket) + count;
    this.total += count;
    if (bucket < this.first) this.first = bucket;
    if (bucket > this.last) this.last = bucket;
  }

  of(bucket: number): number {
    return this.#counts[bucket] ?? 0;
  }

  /** In rising order, each once. */
  toPairs(): Pairs {
    const pairs: Pairs = [];
    for (let bucket = this.first; bucket <= this.last; bucket++) {
      const count = this.of(bucket);
      if (count > 0) pairs.push(bucket, count);
    }
    return pairs;
  }

  /** By nearest rank; `shares` rise. */
  quantiles(shares: readonly number[]): number[] {
    const found: number[] = [];
    let seen = 0;
    let bucket = this.first - 1;
    for (const share of shares) {
      const rank = Math.max(1, Math.ceil(this.total * share));
      while (seen < rank && bucket < this.last) seen += this.of(++bucket);
      found.push(middleOf(bucket));
    }
    return found;
  }

  clear(): void {
    if (this.last >= this.first) this.#counts.fill(0, this.first, this.last + 1);
    this.first = bucketCount;
    this.last = -1;
    this.total = 0;
  }
}
