/** Counts amounts in a sliding time window: 60 buckets behind the current one, and their sum. */

const bucketsPerWindow = 60;
/** Number of buckets kept: the current one has only partly passed, so that the oldest one must still count. */
export const slots = bucketsPerWindow + 1;

export class Window {
  readonly bucketMs: number;
  /** Amounts by bucket number modulo `slots`; bucket 0 begins when the clock does. */
  readonly #amounts = new Float64Array(slots);
  /** By bucket: amounts that the shared counter does not know yet; may be negative. */
  #untold: Float64Array | undefined = undefined;
  /** The number of the current bucket at the last call, and when it ends. */
  #head: number;
  #headEndsAtMs: number;
  /** The number of the last bucket with an amount. */
  #newest = Number.NEGATIVE_INFINITY;
  #total = 0;
  /** The shared counter's last total, and the amount permitted since then without it. */
  #there = 0;
  #beyondThere = 0;
  #thereAtMs = Number.NEGATIVE_INFINITY;

  constructor(windowMs: number, nowMs: number) {
    this.bucketMs = windowMs / bucketsPerWindow;
    this.#head = this.bucketAt(nowMs);
    this.#headEndsAtMs = (this.#head + 1) * this.bucketMs;
  }

  bucketAt(atMs: number): number {
    return Math.floor(atMs / this.bucketMs);
  }

  totalAt(nowMs: number): number {
    this.#advanceTo(nowMs);
    return this.#total;
  }

  isEmptyAt(nowMs: number): boolean {
    return this.totalAt(nowMs) === 0 && this.#untold === undefined;
  }

  /** Adds an amount at a time. It may be negative, but a bucket stays at 0 at least. Amounts too far in the past are ignored. */
  add(atMs: number, amount: number): void {
    this.#advanceTo(atMs);
    const bucket = atMs >= this.#headEndsAtMs - this.bucketMs ? this.#head : this.bucketAt(atMs);
    if (bucket <= this.#head - slots) return;
    if (amount > 0 && bucket > this.#newest) this.#newest = bucket;
    const slot = bucket % slots;
    const before = this.#amounts[slot] ?? 0;
    const after = Math.max(0, before + amount);
    this.#amounts[slot] = after;
    this.#total += after - before;
  }

  hear(nowMs: number, total: number): void {
    this.#there = total;
    this.#beyondThere = 0;
    this.#thereAtMs = nowMs;
  }

  /** Adds an amount that was permitted without the shared counter. */
  addUnheard(amount: number): void {
    this.#beyondThere += amount;
  }

  /** This node's share of the amount that was left at the shared counter's last total; undefined without a recent one. */
  shareOfRest(nowMs: number, most: number, nodes: number): number | undefined {
    if (nowMs - this.#thereAtMs >= this.bucketMs) return undefined;
    return Math.floor(Math.max(0, most - this.#there) / nodes) - this.#beyondThere;
  }

  /** Milliseconds until so much of the counted amount has left the window. */
  freeAfterMs(nowMs: number, amount: number): number {
    let left = amount;
    for (let bucket = this.#head - bucketsPerWindow; bucket <= this.#head; bucket += 1) {
      if (bucket < 0) continue;
      left -= this.#amounts[bucket % slots] ?? 0;
      if (left <= 0) return (bucket + slots) * this.bucketMs - nowMs;
    }
    return slots * this.bucketMs;
  }

  resetAfterMs(nowMs: number): number {
    return this.#total === 0 ? 0 : Math.max(0, (this.#newest + slots) * this.bucketMs - nowMs);
  }

  /** Records an amount that is to be reported; see `report`. */
  note(atMs: number, amount: number): void {
    this.#advanceTo(atMs);
    const bucket = this.bucketAt(atMs);
    if (bucket <= this.#head - slots) return;
    this.#untold ??= new Float64Array(slots);
    const slot = bucket % slots;
    this.#untold[slot] = (this.#untold[slot] ?? 0) + amount;
  }

  /** Records that everything must be reported anew. */
  noteAll(): void {
    this.#untold = this.#total === 0 ? undefined : this.#amounts.slice();
  }

  /** Visits what must be reported, bucket by bucket, and considers it reported. */
  report(nowMs: number, visit: (bucket: number, amount: number) => void): void {
    this.#advanceTo(nowMs);
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold === undefined) return;
    for (let bucket = Math.max(0, this.#head - bucketsPerWindow); bucket <= this.#head; bucket += 1) {
      const amount = untold[bucket % slots] ?? 0;
      if (amount !== 0) visit(bucket, amount);
    }
  }

  #advanceTo(atMs: number): void {
    if (atMs < this.#headEndsAtMs) return;
    const bucket = this.bucketAt(atMs);
    if (bucket <= this.#head) return;
    if (bucket - this.#head >= slots) {
      if (this.#total > 0) this.#amounts.fill(0);
      this.#total = 0;
      this.#untold = undefined;
    } else if (this.#total > 0 || this.#untold !== undefined) {
      for (let next = this.#head + 1; next <= bucket; next += 1) this.#leave(next % slots);
    }
    this.#head = bucket;
    this.#headEndsAtMs = (bucket + 1) * this.bucketMs;
  }

  #leave(slot: number): void {
    this.#total -= this.#amounts[slot] ?? 0;
    this.#amounts[slot] = 0;
    if (this.#untold !== undefined) this.#untold[slot] = 0;
  }
}
