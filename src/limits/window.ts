/** A sliding window: 60 buckets behind the current one, and their sum. */

const bucketsPerWindow = 60;
/** The present bucket is only partly over, so that the oldest one must still count. */
export const slots = bucketsPerWindow + 1;

export class Window {
  readonly bucketMs: number;
  /** By bucket modulo `slots`; a bucket is a number of bucket lengths since the clock began. */
  readonly #amounts = new Float64Array(slots);
  /** What was added that the place where all nodes count does not know of yet; may be less than nothing. */
  #untold: Float64Array | undefined = undefined;
  /** The bucket of the present, as of the last look. */
  #head: number;
  /** The last one in which something was taken. */
  #newest = Number.NEGATIVE_INFINITY;
  #total = 0;
  /** What all nodes had taken, as the place where they count said last, and what was let through here without it since. */
  #there = 0;
  #beyondThere = 0;
  #thereAtMs = Number.NEGATIVE_INFINITY;

  constructor(windowMs: number, nowMs: number) {
    this.bucketMs = windowMs / bucketsPerWindow;
    this.#head = this.bucketAt(nowMs);
  }

  bucketAt(atMs: number): number {
    return Math.floor(atMs / this.bucketMs);
  }

  totalAt(nowMs: number): number {
    this.#advance(this.bucketAt(nowMs));
    return this.#total;
  }

  /** Nothing taken counts any more, and nothing is left to be told. */
  isEmptyAt(nowMs: number): boolean {
    return this.totalAt(nowMs) === 0 && this.#untold === undefined;
  }

  /** More, or less: never below nothing. What lies too far back is over anyway. */
  add(atMs: number, amount: number): void {
    const bucket = this.bucketAt(atMs);
    this.#advance(bucket);
    if (bucket <= this.#head - slots) return;
    if (amount > 0 && bucket > this.#newest) this.#newest = bucket;
    const slot = bucket % slots;
    const before = this.#amounts[slot] ?? 0;
    const after = Math.max(0, before + amount);
    this.#amounts[slot] = after;
    this.#total += after - before;
  }

  /** The place where all nodes count says what they have taken. */
  hear(nowMs: number, total: number): void {
    this.#there = total;
    this.#beyondThere = 0;
    this.#thereAtMs = nowMs;
  }

  /** Something is let through without asking there. */
  addUnheard(amount: number): void {
    this.#beyondThere += amount;
  }

  /** This node's part of what was left there; undefined where nothing was heard lately. */
  shareOfRest(nowMs: number, most: number, nodes: number): number | undefined {
    if (nowMs - this.#thereAtMs >= this.bucketMs) return undefined;
    return Math.floor(Math.max(0, most - this.#there) / nodes) - this.#beyondThere;
  }

  /** Until so much of what is taken no longer counts. */
  freeAfterMs(nowMs: number, amount: number): number {
    let left = amount;
    for (let bucket = this.#head - bucketsPerWindow; bucket <= this.#head; bucket += 1) {
      if (bucket < 0) continue;
      left -= this.#amounts[bucket % slots] ?? 0;
      if (left <= 0) return (bucket + slots) * this.bucketMs - nowMs;
    }
    return slots * this.bucketMs;
  }

  /** Until all of it is free, if nothing more is taken. */
  resetAfterMs(nowMs: number): number {
    return this.#total === 0 ? 0 : Math.max(0, (this.#newest + slots) * this.bucketMs - nowMs);
  }

  /** Notes something to be told; see `tell`. */
  note(atMs: number, amount: number): void {
    const bucket = this.bucketAt(atMs);
    this.#advance(bucket);
    if (bucket <= this.#head - slots) return;
    this.#untold ??= new Float64Array(slots);
    const slot = bucket % slots;
    this.#untold[slot] = (this.#untold[slot] ?? 0) + amount;
  }

  /** All of it is to be told anew. */
  noteAll(): void {
    this.#untold = this.#total === 0 ? undefined : this.#amounts.slice();
  }

  /** Says what is to be told, bucket by bucket; from then on it is. */
  report(nowMs: number, visit: (bucket: number, amount: number) => void): void {
    this.#advance(this.bucketAt(nowMs));
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold === undefined) return;
    for (let bucket = Math.max(0, this.#head - bucketsPerWindow); bucket <= this.#head; bucket += 1) {
      const amount = untold[bucket % slots] ?? 0;
      if (amount !== 0) visit(bucket, amount);
    }
  }

  #advance(bucket: number): void {
    if (bucket <= this.#head) return;
    if (bucket - this.#head >= slots) {
      if (this.#total > 0) this.#amounts.fill(0);
      this.#total = 0;
      this.#untold = undefined;
    } else if (this.#total > 0 || this.#untold !== undefined) {
      for (let next = this.#head + 1; next <= bucket; next += 1) this.#leave(next % slots);
    }
    this.#head = bucket;
  }

  #leave(slot: number): void {
    this.#total -= this.#amounts[slot] ?? 0;
    this.#amounts[slot] = 0;
    if (this.#untold !== undefined) this.#untold[slot] = 0;
  }
}
