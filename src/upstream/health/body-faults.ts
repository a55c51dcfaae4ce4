/** Fault attribution by request body: tells a failing target from a client whose requests make targets fail. */

/** So many 503 or 529 in a row prove that the service is unavailable, even with a single request body. */
const provingInARow = 3;

export class BodyFaults {
  /** The first failed body since the last success. */
  #body: string | undefined = undefined;
  /** Another body failed as well. */
  #isProven = false;
  /** How often that body was answered 503 or 529. */
  #unavailable = 0;

  /** Failures count once two different bodies failed, or one was answered 503 or 529 (`isUnavailable`) for the third time; earlier ones too. */
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

  /** How many failures counted with a single failed body. */
  get counted(): number {
    return this.#unavailable < provingInARow ? 0 : this.#unavailable;
  }

  /** Whether only this body has failed, with 503 or 529. */
  isOnly(body: string): boolean {
    return !this.#isProven && this.#unavailable > 0 && this.#body === body;
  }

  /** After a success. */
  clear(): void {
    this.#body = undefined;
    this.#isProven = false;
    this.#unavailable = 0;
  }

  /** The request was at fault: its failure is removed. `weight` is what it counted as. */
  excuse(body: string, weight: number): void {
    if (weight === 2) this.#isProven = false;
    else if (!this.#isProven && this.#body === body) this.clear();
  }

  /** The body is at fault for its 503 or 529. It still is the first of two that prove a failing service. */
  excuseUnavailable(): void {
    this.#unavailable = 0;
  }
}
