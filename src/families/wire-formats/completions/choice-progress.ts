/** Tracks which choices of a stream have begun and ended, to number new ones and to detect a truncated stream. */

import { Unfit } from '../../../core/translation.ts';
import type { Json } from '../../../lib/json/json-text.ts';
import { countIn } from '../reading.ts';

export class ChoiceProgress {
  readonly #expected: number | undefined;
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();

  /** Undefined: any number. */
  constructor(expected: number | undefined) {
    this.#expected = expected;
  }

  /** Every requested choice has a finish reason. */
  get isComplete(): boolean {
    return this.#begun.size > 0 && this.#finished.size >= (this.#expected ?? this.#begun.size);
  }

  /** Returns the choice's position, and whether it is new. Throws `Unfit` for a choice that was not requested. */
  begin(index: Json | undefined): { readonly place: number; readonly isNew: boolean } {
    const place = countIn(index);
    if (place === undefined) throw new Unfit('a choice has no index');
    if (this.#expected !== undefined && place >= this.#expected) {
      throw new Unfit(`a choice has the index ${place}, and ${this.#expected} were asked for`);
    }
    const isNew = !this.#begun.has(place);
    this.#begun.add(place);
    return { place, isNew };
  }

  finish(place: number): void {
    this.#finished.add(place);
  }

  /** At the upstream's end mark. A proxy between may send one after a truncated stream, too. */
  checkEnd(): void {
    const begun = this.#begun.size;
    if (begun === 0) throw new Unfit('the stream holds no choice');
    if (this.#expected !== undefined && begun < this.#expected) {
      throw new Unfit(`the stream holds ${begun} choices where ${this.#expected} were asked for`);
    }
    if (!this.isComplete) throw new Unfit('the stream ended before each choice had its finish_reason');
  }
}
