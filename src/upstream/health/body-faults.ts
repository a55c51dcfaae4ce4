/** Fault attribution by request body: tells a failing target from a client whose requests make targets fail. */

/** So many 503 or 529 in a row say that the service is unavailable, though one body alone has had them. */
const provingInARow = 3;

export class BodyFaults {
  /** Of the first that failed since the target served anyone. */
  #body: string | undefined = undefined;
  /** Another body failed as well. */
  #isProven = false;
  /** How often that one body was answered 503 or 529. */
  #unavailable = 0;

  /**
   * For how many failures this one counts. It counts once two different bodies have failed, or once one was answered 503 or 529
   * (`isUnavailable`) for the third time; those that proved it with this one count from then on, too.
   */
  weigh(body: string, isUnavailable: boolean): number {
    if (this.#isProven) return 1;
    if (this.#body === undefined || this.#body === body) {
      this.#body = body;
      if (!isUnavailable) return 0;
      this.#unavailable += 1;
      if (this.#unavailable === provingInARow) return provingInARow;
      return this.counted > 0 ? 1 : 0;
    }
    this.#isProven = true;
    return this.counted > 0 ? 1 : 2;
  }

  /** How many failures counted though one body alone has had them. */
  get counted(): number {
    return this.#unavailable < provingInARow ? 0 : this.#unavailable;
  }

  /** Whether no body but this one has failed, and it was answered 503 or 529. */
  isOnly(body: string): boolean {
    return !this.#isProven && this.#unavailable > 0 && this.#body === body;
  }

  /** It served someone. */
  clear(): void {
    this.#body = undefined;
    this.#isProven = false;
    this.#unavailable = 0;
  }

  /** The request was to blame: as if it had not come. `weight` is what it counted for. */
  excuse(body: string, weight: number): void {
    if (weight === 2) this.#isProven = false;
    else if (!this.#isProven && this.#body === body) this.clear();
  }

  /** The one body is to blame for its 503 or 529. It still is the first of two that prove a failing service. */
  excuseUnavailable(): void {
    this.#unavailable = 0;
  }
}
