/** Decides whether an answer is late by when it arrived at the socket, so that delays within this process do not count. */

import { performance } from 'node:perf_hooks';

/** Called when an answer is late. `leftAtMs`: when the question was sent, on the clock of `performance`. */
type OnOverdue = (leftAtMs: number) => void;

/** Measures one wait. To be created in the event-loop turn of the question, as that is sent at the end of the turn. */
export class ReadingTime {
  readonly #ms: number;
  readonly #onOverdue: OnOverdue;
  #leftAtMs = 0;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isOver = false;

  constructor(ms: number, onOverdue: OnOverdue, onLeft?: () => void) {
    this.#ms = ms;
    this.#onOverdue = onOverdue;
    // The Redis client sends the question in an immediate of its own, which comes before this one.
    setImmediate(() => {
      onLeft?.();
      if (this.#isOver) return;
      this.#leftAtMs = performance.now();
      this.#wait(ms);
    });
  }

  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#due(), Math.ceil(ms));
  }

  /** Decides one step later: sockets are read between timers and immediates, so data that has arrived is read before. */
  #due(): void {
    const restMs = this.#leftAtMs + this.#ms - performance.now();
    if (restMs > 0) this.#wait(restMs);
    else setImmediate(() => this.#judge());
  }

  #judge(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOverdue(this.#leftAtMs);
  }
}

/** Collects the questions of one event-loop turn, which are sent together and have one deadline. */
export class TickBatches<Asked> {
  readonly #ms: number;
  readonly #onOverdue: (asked: readonly Asked[], leftAtMs: number) => void;
  #batch: Asked[] | undefined = undefined;

  constructor(ms: number, onOverdue: (asked: readonly Asked[], leftAtMs: number) => void) {
    this.#ms = ms;
    this.#onOverdue = onOverdue;
  }

  add(asked: Asked): void {
    if (this.#batch !== undefined) {
      this.#batch.push(asked);
      return;
    }
    const batch = [asked];
    this.#batch = batch;
    new ReadingTime(
      this.#ms,
      (leftAtMs) => this.#onOverdue(batch, leftAtMs),
      () => {
        this.#batch = undefined;
      },
    );
  }
}

export async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const time = new ReadingTime(ms, () => late.reject(new Error(`no answer within ${Math.round(ms)} ms`)));
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    time.cancel();
  }
}
