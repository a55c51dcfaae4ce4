/** Computes how much journal space to keep free, so that the end of every open request can be written. */

/** Space reserved for a usual end: twice the size of most. */
const usualBytes = 2_048;
/** Space that an end takes beyond twice its intent. */
const moreBytes = 1_024;

export class EndReserve {
  #count = 0;
  #bytes = 0;
  /** By request ID, for ends with long names: bytes beyond the usual. */
  readonly #extra = new Map<string, number>();

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Reserves space for the end of an exchange: it repeats the intent's names, and the model's twice. */
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
