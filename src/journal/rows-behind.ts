/** Counts the journal's rows that are not in the store yet, reading each frame once. */

import type { JournalPosition } from '../core/store/ledger.ts';
import type { Frame } from './journal-frame.ts';
import { countSettlements } from './journal-items.ts';
import type { SegmentReader } from './journal-segment.ts';

/** Limit for one call, so that a journal of gigabytes does not block; the rest is counted at the next call. */
const mostBytesALook = 64 * 1024 * 1024;

/** Opens a segment while `what` runs; does nothing where it was deleted. */
type LookInto = (number: number, what: (segment: SegmentReader) => void) => void;

export class RowsBehind {
  #cursor: JournalPosition;
  #seen = 0;
  #taken = 0;
  #imported = 0;
  #importedTo: JournalPosition;

  constructor(from: JournalPosition) {
    this.#cursor = from;
    this.#importedTo = from;
  }

  took(frame: Frame): void {
    this.#taken += countSettlements(frame);
  }

  /** Notes that everything returned so far is in the store. */
  imported(position: JournalPosition): void {
    this.#imported = this.#taken;
    this.#importedTo = position;
  }

  /** The number of rows that are not in the store; `numbers` are the existing segments, rising. */
  count(numbers: readonly number[], look: LookInto): number {
    if (isBefore(this.#cursor, this.#importedTo)) {
      this.#cursor = this.#importedTo;
      this.#seen = this.#imported;
    }
    let left = mostBytesALook;
    for (const number of numbers) {
      if (number < this.#cursor.segment || left <= 0) continue;
      look(number, (segment) => {
        let offset = number === this.#cursor.segment ? this.#cursor.offset : 0;
        for (let frame = segment.frameAt(offset); frame !== undefined && left > 0; frame = segment.frameAt(offset)) {
          this.#seen += countSettlements(frame);
          left -= frame.payload.length;
          offset = frame.end;
          this.#cursor = { segment: number, offset };
        }
      });
    }
    return Math.max(0, this.#seen - this.#imported);
  }
}

function isBefore(one: JournalPosition, other: JournalPosition): boolean {
  return one.segment < other.segment || (one.segment === other.segment && one.offset < other.offset);
}
