/** Computes the journal space to keep free so that every open request can end. */

/** Twice the size of most ends. */
const usualBytes = 2_048;
/** An end's further size beyond its intent. */
const moreBytes = 1_024;

export class EndReserve {
  #count = 0;
  #bytes = 0;
  /** For ends with long names: bytes beyond the usual. */
  readonly #extra = new Map<string, number>();

  /** Open exchanges. */
  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** An end repeats the intent's names, and the model's twice. */
  open(id: string, intentBytes: number): void {
    this.#count += 1;
    this.#bytes += usualBytes;
    const extra = 2 * intentBytes + moreBytes - usualBytes;
    if (extra <= 0) return;
    this.#extra.set(id, extra);
    this.#bytes += extra;
  }

  close(id: string): void {
    this.#count -= 1;
    this.#bytes -= usualBytes;
    if (this.#extra.size === 0) return;
    this.#bytes -= this.#extra.get(id) ?? 0;
    this.#extra.delete(id);
  }
}
