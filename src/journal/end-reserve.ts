/** Computes the journal space to keep free so that every open request can end. */

/** What most ends need twice over. */
const usualBytes = 2_048;
/** What an end says beyond what its intent says. */
const moreBytes = 1_024;

export class EndReserve {
  #count = 0;
  #bytes = 0;
  /** Of those with long names: what they need beyond the usual. */
  readonly #extra = new Map<string, number>();

  /** Exchanges that are open. */
  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Its names stand in the end as well, that of the model twice. */
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
