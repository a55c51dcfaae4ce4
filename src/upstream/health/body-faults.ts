/** Finds out by the request bodies whether a target is failing, or one client's requests make it fail. */

/** This many answers 503 or 529 in a row prove that the service is unavailable, even if all had the same request body. */
const provingInARow = 3;

export class BodyFaults {
  #firstFailedBody: string | undefined = undefined;
  /** Whether a second, different request body has failed too: then the target is at fault, not the body. */
  #isProven = false;
  /** How often the request body that failed first was answered with 503 or 529. */
  #unavailable = 0;

  /** How many failures to count now. They count, earlier ones too, once two bodies failed, or one got 503 or 529 (`isUnavailable`) three times. */
  weigh(body: string, isUnavailable: boolean): number {
    if (this.#isProven) return 1;
    if (this.#firstFailedBody === undefined || this.#firstFailedBody === body) {
      this.#firstFailedBody = body;
      if (!isUnavailable) return 0;
      this.#unavailable += 1;
      if (this.#unavailable === provingInARow) return provingInARow;
      return this.counted > 0 ? 1 : 0;
    }
    this.#isProven = true;
    return this.counted > 0 ? 1 : 2;
  }

  /** How many failures were counted while only one body has failed. */
  get counted(): number {
    return this.#unavailable < provingInARow ? 0 : this.#unavailable;
  }

  /** Whether only this body has failed, with 503 or 529. */
  isOnly(body: string): boolean {
    return !this.#isProven && this.#unavailable > 0 && this.#firstFailedBody === body;
  }

  clear(): void {
    this.#firstFailedBody = undefined;
    this.#isProven = false;
    this.#unavailable = 0;
  }

  /** Removes a failure that was the request's fault. `weight`: how many failures it counted as. */
  excuse(body: string, weight: number): void {
    if (weight === 2) this.#isProven = false;
    else if (!this.#isProven && this.#firstFailedBody === body) this.clear();
  }

  /** Forgets the 503 and 529 of the first body, whose fault they were. A second failing body still proves that the service fails. */
  excuseUnavailable(): void {
    this.#unavailable = 0;
  }
}
