/** A timer wheel for all timeouts: it checks them in steps, so that postponing a timeout costs a single assignment. */

import { performance } from 'node:perf_hooks';

export interface Timed {
  /** When the time is up, on the monotonic clock. It may be postponed while on the wheel, and is read when the old time has come. */
  dueMs: number;
  /** Set by the wheel; undefined for an entry that is on no wheel. */
  bucket: Bucket | undefined;
  /** Set by the wheel: the entry's index in the bucket. */
  bucketIndex: number;
  /** Called when the time is up. The entry is no longer on the wheel, unless it adds itself again. */
  onDue(nowMs: number): void;
}

/**
 * Entries that are checked together. A plain list, in which each entry knows its index: a Map or Set used by thousands of short-lived entries a
 * second keeps them in memory until a full garbage collection, as each of its former tables refers to the next.
 */
export interface Bucket {
  readonly step: number;
  readonly items: Timed[];
}

export class Wheel {
  readonly #stepMs: number;
  readonly #buckets = new Map<number, Bucket>();
  #size = 0;
  #timer: NodeJS.Timeout | undefined = undefined;
  #lastStep = 0;

  /** `stepMs`: entries are at most two steps late. */
  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an entry. If it is on the wheel already, it only moves to an earlier time. */
  add(item: Timed): void {
    if (this.#timer === undefined) this.#start();
    const step = this.#stepOf(item.dueMs);
    if (item.bucket !== undefined) {
      if (item.bucket.step <= step) return;
      this.remove(item);
    }
    const bucket = this.#bucketAt(step);
    item.bucket = bucket;
    item.bucketIndex = bucket.items.push(item) - 1;
    this.#size += 1;
  }

  remove(item: Timed): void {
    const { bucket, bucketIndex } = item;
    if (bucket === undefined) return;
    item.bucket = undefined;
    this.#size -= 1;
    const last = bucket.items.pop();
    if (last === undefined || last === item) return;
    bucket.items[bucketIndex] = last;
    last.bucketIndex = bucketIndex;
  }

  #bucketAt(step: number): Bucket {
    const known = this.#buckets.get(step);
    if (known !== undefined) return known;
    const bucket = { step, items: [] };
    this.#buckets.set(step, bucket);
    return bucket;
  }

  #stepOf(dueMs: number): number {
    const step = Math.ceil(Math.min(dueMs, Number.MAX_SAFE_INTEGER) / this.#stepMs);
    return Math.max(step, this.#lastStep + 1);
  }

  #start(): void {
    this.#lastStep = Math.floor(performance.now() / this.#stepMs);
    // Sockets are read before an immediate runs: after a long turn of the event loop, data that came in time postpones its timeout.
    this.#timer = setInterval(() => setImmediate(this.#look), this.#stepMs);
    this.#timer.unref();
  }

  readonly #look = (): void => {
    const nowMs = performance.now();
    const first = this.#lastStep + 1;
    // Entries that are added during the check wait at least for the next one.
    this.#lastStep = Math.max(Math.floor(nowMs / this.#stepMs), this.#lastStep);
    for (let step = first; step <= this.#lastStep; step += 1) this.#turn(step, nowMs);
    if (this.#size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #turn(step: number, nowMs: number): void {
    const bucket = this.#buckets.get(step);
    if (bucket === undefined) return;
    this.#buckets.delete(step);
    for (let item = bucket.items.at(-1); item !== undefined; item = bucket.items.at(-1)) {
      this.remove(item);
      if (item.dueMs > nowMs) this.add(item);
      else item.onDue(nowMs);
    }
  }
}
