/** Implements a sketch of durations (DDSketch, 2019): counts in buckets that grow by 2 %; percentiles are within 1 %, and sketches add up. */

const accuracy = 0.01;
const gamma = (1 + accuracy) / (1 - accuracy);
const perLog = 1 / Math.log(gamma);
/** The smallest duration in milliseconds that does not count as zero. */
const smallest = 0.001;
const longest = 1e9;

export const bucketOf = (ms: number): number =>
  ms > smallest ? Math.ceil(Math.log(Math.min(ms, longest) / smallest) * perLog) : 0;

export const bucketCount = bucketOf(longest) + 1;

/** The middle of a bucket: every value of the bucket is within 1 % of it. */
export const middleOf = (bucket: number): number => (bucket === 0 ? 0 : (smallest * 2 * gamma ** bucket) / (gamma + 1));

export const boundOf = (bucket: number): number => smallest * gamma ** bucket;

/** Numbers of buckets and their counts in turn, in any order; a bucket may occur several times. */
export type Pairs = number[];

const none = new Float64Array(0);

/** Length from which on a dense array of counts is faster than a list of pairs. */
const mostListed = 128;
/** Number of buckets by which arrays of counts grow: most have none above a few hundred. */
const grownBy = 128;

/** A sum of sketches: a list of pairs while short, then a dense array of counts. */
export class Sketch {
  #pairs: Pairs = [];
  #counts: Float64Array | undefined = undefined;

  /** Adds the first `length` numbers of `pairs`. */
  add(pairs: ArrayLike<number>, length: number): void {
    if (this.#counts !== undefined) {
      this.#count(this.#counts, pairs, length, 1);
      return;
    }
    for (let at = 0; at < length; at++) this.#pairs.push(pairs[at] ?? 0);
    if (this.#pairs.length > mostListed) this.#spread();
  }

  /** Takes values away that were added before. */
  remove(pairs: Pairs): void {
    if (pairs.length > 0) this.#count(this.#counts ?? this.#spread(), pairs, pairs.length, -1);
  }

  #count(counts: Float64Array, pairs: ArrayLike<number>, length: number, factor: number): void {
    let most = 0;
    for (let at = 0; at < length; at += 2) most = Math.max(most, pairs[at] ?? 0);
    const to = most < counts.length ? counts : this.#grow(most);
    for (let at = 0; at < length; at += 2) {
      const bucket = pairs[at] ?? 0;
      to[bucket] = (to[bucket] ?? 0) + factor * (pairs[at + 1] ?? 0);
    }
  }

  #spread(): Float64Array {
    const pairs = this.#pairs;
    this.#pairs = [];
    this.#count(none, pairs, pairs.length, 1);
    return this.#counts ?? this.#grow(0);
  }

  #grow(bucket: number): Float64Array {
    const grown = new Float64Array(grownBy * (Math.floor(bucket / grownBy) + 1));
    grown.set(this.#counts ?? none);
    this.#counts = grown;
    return grown;
  }

  get isEmpty(): boolean {
    return this.#counts === undefined && this.#pairs.length === 0;
  }

  /** The sketch as pairs in rising order, each bucket once. */
  toPairs(): Pairs {
    const counts = this.#counts;
    if (counts === undefined) return inOrder(this.#pairs);
    const pairs: Pairs = [];
    // Most buckets are empty; an iterator would take several times as long as this loop.
    for (let bucket = 0; bucket < counts.length; bucket++) {
      const count = counts[bucket] ?? 0;
      if (count > 0) pairs.push(bucket, count);
    }
    return pairs;
  }

  /** The value at a share of the counts, by nearest rank; undefined where there is no value. */
  quantile(share: number): number | undefined {
    const counts = this.#counts ?? this.#spread();
    let count = 0;
    for (let bucket = 0; bucket < counts.length; bucket++) count += counts[bucket] ?? 0;
    if (count === 0) return undefined;
    let above = count - Math.max(1, Math.ceil(count * share));
    let bucket = counts.length - 1;
    for (; above >= (counts[bucket] ?? 0) && bucket > 0; bucket--) above -= counts[bucket] ?? 0;
    return middleOf(bucket);
  }

  clear(): void {
    this.#pairs.length = 0;
    this.#counts = undefined;
  }
}

/** Sorts pairs by insertion: they are few, and mostly ordered. */
export function inOrder(pairs: Pairs): Pairs {
  const sorted: Pairs = [];
  for (let at = 0; at < pairs.length; at += 2) {
    const bucket = pairs[at] ?? 0;
    const count = pairs[at + 1] ?? 0;
    let index = sorted.length;
    while (index > 0 && (sorted[index - 2] ?? 0) > bucket) index -= 2;
    if (index > 0 && sorted[index - 2] === bucket) {
      sorted[index - 1] = (sorted[index - 1] ?? 0) + count;
      continue;
    }
    // The larger entries move up one by one: splicing would take several times as long.
    sorted.push(bucket, count);
    for (let last = sorted.length - 1; last > index + 1; last--) sorted[last] = sorted[last - 2] ?? 0;
    sorted[index] = bucket;
    sorted[index + 1] = count;
  }
  return sorted;
}

/** The values at several shares, by nearest rank, from pairs in rising order; `shares` rise. */
export function quantilesOf(
  pairs: Pairs,
  shares: readonly number[],
): { readonly count: number; readonly values: number[] } {
  let count = 0;
  for (let at = 1; at < pairs.length; at += 2) count += pairs[at] ?? 0;
  const values: number[] = [];
  let seen = 0;
  let at = -2;
  for (const share of shares) {
    const rank = Math.max(1, Math.ceil(count * share));
    while (seen < rank && at + 2 < pairs.length) {
      at += 2;
      seen += pairs[at + 1] ?? 0;
    }
    values.push(middleOf(pairs[at] ?? 0));
  }
  return { count, values };
}
