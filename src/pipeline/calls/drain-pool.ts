/** Lets the sub-calls of a request that has failed already be read on for a short time, to learn what they cost. */

/** Limit of responses that are read on at the same time, in one process. */
const mostCalls = 256;
const longestPerResponseMs = 1_000;

export class DrainPool {
  #count = 0;

  /** Calls `giveUp` when the time is up, or at once if the pool is full. Returns a function that ends the wait. */
  enter(giveUp: () => void): () => void {
    if (this.#count >= mostCalls) {
      giveUp();
      return () => undefined;
    }
    this.#count += 1;
    const timer = setTimeout(giveUp, longestPerResponseMs);
    return () => {
      clearTimeout(timer);
      this.#count -= 1;
    };
  }
}
