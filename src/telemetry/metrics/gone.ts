/** Models and upstreams that are no longer configured, and which of them metrics forget: the longest gone, once there are too many. */

export class Gone {
  readonly #kept: number;
  #present: ReadonlySet<string> = new Set();
  /** The one that went first is the first. */
  readonly #gone = new Set<string>();

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** Says which to forget, now that these are there. */
  notice(present: readonly string[]): string[] {
    const before = this.#present;
    this.#present = new Set(present);
    for (const name of this.#present) this.#gone.delete(name);
    for (const name of before) if (!this.#present.has(name)) this.#gone.add(name);
    const forgotten = [...this.#gone].slice(0, Math.max(0, this.#gone.size - this.#kept));
    for (const name of forgotten) this.#gone.delete(name);
    return forgotten;
  }
}
