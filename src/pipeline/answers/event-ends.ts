/** Where the events of a stream end, in bytes that come in pieces: behind each empty line, however its lines end. */

import type { Buffer } from 'node:buffer';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export class EventEnds {
  #isAtLineStart = true;
  #isBehindReturn = false;

  /** Counted from the beginning of the chunk. */
  *in(chunk: Buffer): Generator<number> {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      const endsReturn = this.#isBehindReturn && byte === LINE_FEED;
      this.#isBehindReturn = byte === CARRIAGE_RETURN;
      // The second half of an end of line that was one already.
      if (endsReturn) continue;
      const isLineEnd = byte === LINE_FEED || byte === CARRIAGE_RETURN;
      if (isLineEnd && this.#isAtLineStart)
        yield at + (byte === CARRIAGE_RETURN && chunk[at + 1] === LINE_FEED ? 2 : 1);
      this.#isAtLineStart = isLineEnd;
    }
  }
}
