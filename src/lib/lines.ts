/** Splits chunks of bytes into lines, of which it holds at most one in memory. */

import { Buffer } from 'node:buffer';

const LINE_FEED = 0x0a;

export interface Line {
  /** The line's number, from 1. */
  readonly no: number;
  readonly at: number;
  /** The line without its line feed; a view where it arrived in one piece. Undefined for a line that is too long. */
  readonly bytes: Buffer | undefined;
}

export class LineReader {
  readonly #longestBytes: number;
  #no = 1;
  #at = 0;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #isTooLong = false;
  /** Bytes of the incomplete line so far, whether they are held or not. */
  #begunBytes = 0;
  /** Offset at which the last assembled line ends. */
  #end = 0;

  constructor(longestBytes: number) {
    this.#longestBytes = longestBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  *push(chunk: Buffer): Generator<Line, void, undefined> {
    let from = 0;
    for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, from)) {
      const bytes = this.#whole(chunk.subarray(from, feed));
      const at = this.#at;
      this.#at = this.#end + 1;
      from = feed + 1;
      yield { no: this.#no++, at, bytes };
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** The last line, if no line feed ends it; else undefined. */
  end(): Line | undefined {
    if (this.#heldBytes === 0 && !this.#isTooLong) return undefined;
    const bytes = this.#whole(Buffer.alloc(0));
    return { no: this.#no, at: this.#at, bytes };
  }

  #whole(rest: Buffer): Buffer | undefined {
    const bytes = this.#begunBytes + rest.length;
    this.#end = this.#at + bytes;
    const isTooLong = this.#isTooLong || bytes > this.#longestBytes;
    const whole = this.#pieces.length === 0 ? rest : Buffer.concat([...this.#pieces, rest]);
    this.#pieces = [];
    this.#heldBytes = 0;
    this.#begunBytes = 0;
    this.#isTooLong = false;
    return isTooLong ? undefined : whole;
  }

  #hold(piece: Buffer): void {
    this.#begunBytes += piece.length;
    if (this.#begunBytes > this.#longestBytes) {
      this.#isTooLong = true;
      this.#pieces = [];
      this.#heldBytes = 0;
      return;
    }
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
  }
}
