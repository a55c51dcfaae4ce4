/** Queues requests that wait for one account's money; those refused because of other reservations are retried after a pause. */

import type { Clock } from '../lib/clock.ts';

/** Pauses before a refused request tries again: long enough for other nodes to return money. */
const pausesMs = [120, 130];
const sameMomentMs = 20;

interface MoneySeeker {
  readonly nanos: number;
  /** How often the request was refused; below it, the time of its next attempt. */
  refusals: number;
  againAtMs: number;
  resolve(): void;
  reject(error: unknown): void;
}

export class Waiters {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #onAgain: () => void;
  #waiting: MoneySeeker[] = [];
  #pausing: MoneySeeker[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>, onAgain: () => void) {
    this.#clock = clock;
    this.#onAgain = onAgain;
  }

  /** The first waiting request; those in a pause do not count. */
  get first(): { readonly nanos: number } | undefined {
    return this.#waiting[0];
  }

  get areNone(): boolean {
    return this.#waiting.length === 0 && this.#pausing.length === 0;
  }

  /** The sum that waiting requests need, without those that were refused by the store and pause before they ask again. */
  get nanos(): number {
    return this.#waiting.reduce((sum, { nanos }) => sum + nanos, 0);
  }

  add(nanos: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ nanos, refusals: 0, againAtMs: 0, resolve, reject });
    });
  }

  /** Gives money to waiting requests in order while there is enough; retried ones come first. */
  handOut(take: (nanos: number) => boolean): void {
    for (const waiters of [this.#pausing, this.#waiting]) {
      for (let waiter = waiters[0]; waiter !== undefined && take(waiter.nanos); waiter = waiters[0]) {
        waiters.shift();
        waiter.resolve();
      }
    }
  }

  /** Rejects the waiting requests, but not those in a pause. */
  rejectAll(error: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }

  /** There is too little money: each waiting request retries after a pause, or is rejected. */
  refuse(
    isTooMuch: (nanos: number) => boolean,
    isInVain: (nanos: number) => boolean,
    refusal: (nanos: number) => Error,
  ) {
    const nowMs = this.#clock.monotonicMs();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) {
      const pauseMs = pausesMs[waiter.refusals];
      if (!isTooMuch(waiter.nanos)) this.#waiting.push(waiter);
      else if (pauseMs === undefined || isInVain(waiter.nanos)) waiter.reject(refusal(waiter.nanos));
      else {
        waiter.refusals += 1;
        waiter.againAtMs = nowMs + pauseMs;
        this.#pausing.push(waiter);
      }
    }
    this.#wakeLater();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #wakeLater(): void {
    const [first] = this.#pausing;
    if (first === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#wake(), first.againAtMs - this.#clock.monotonicMs());
  }

  #wake(): void {
    this.#timer = undefined;
    const dueMs = this.#clock.monotonicMs() + sameMomentMs;
    const later = this.#pausing.findIndex(({ againAtMs }) => againAtMs > dueMs);
    const due = this.#pausing.splice(0, later === -1 ? this.#pausing.length : later);
    this.#waiting.unshift(...due);
    this.#wakeLater();
    this.#onAgain();
  }
}
