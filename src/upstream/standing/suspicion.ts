/** Tells a target that fails from a client whose requests make it fail: a failure counts once two different bodies have had one. */

export class Suspicion {
  /** Of the first that failed since the target served anyone. */
  #body: string | undefined = undefined;
  /** Another body failed as well. */
  #isProven = false;

  /** For how many failures this one counts: the second body brings the first along. */
  weigh(body: string): 0 | 1 | 2 {
    if (this.#isProven) return 1;
    if (this.#body === undefined || this.#body === body) {
      this.#body = body;
      return 0;
    }
    this.#isProven = true;
    return 2;
  }

  /** It served someone. */
  clear(): void {
    this.#body = undefined;
    this.#isProven = false;
  }

  /** The request was to blame: as if it had not come. `weight` is what it counted for. */
  excuse(body: string, weight: number): void {
    if (weight === 2) this.#isProven = false;
    else if (!this.#isProven && this.#body === body) this.#body = undefined;
  }
}
