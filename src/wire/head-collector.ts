/** Collects the bytes of a message head across segments, and finds its end. */

import { Buffer } from 'node:buffer';
import { ByteHold } from './byte-hold.ts';
import { cr, inToken, isForbidden, lf } from './characters.ts';
import { malformed, tooLarge, type WireFault } from './fault.ts';

const headEnd = Buffer.from('\r\n\r\n');
const strayCr = 'A CR stands without its LF; lines end with CR LF.';

export class HeadCollector {
  /** Where the head ends, with its blank line; 0 until it is complete. */
  endsAt = 0;

  readonly #limitBytes: number;
  readonly #hold = new ByteHold();
  /** Whether the first byte of an empty line before the head was received. */
  #sawCr = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** All received bytes from the beginning of the head, and perhaps some of the body. */
  get bytes(): Buffer {
    return this.#hold.bytes;
  }

  get isEmpty(): boolean {
    return this.#hold.length === 0;
  }

  /** Adds bytes. True once the head is complete; a fault as soon as the bytes can be no head. */
  push(chunk: Buffer): boolean | WireFault {
    const before = this.#hold.length;
    const start = before === 0 ? this.#emptyLinesBefore(chunk) : 0;
    if (typeof start === 'object') return start;
    this.#hold.push(start === 0 ? chunk : chunk.subarray(start));
    if (this.isEmpty) return false;
    const at = this.bytes.indexOf(headEnd, Math.max(0, before - 3));
    const lengthBytes = at === -1 ? this.bytes.length : at + headEnd.length;
    if (lengthBytes > this.#limitBytes) {
      return tooLarge(`The head of the message is longer than ${this.#limitBytes} bytes; send less in its headers.`);
    }
    if (at !== -1) {
      this.endsAt = lengthBytes;
      return true;
    }
    return this.#faultIn(before) ?? false;
  }

  reset(): void {
    this.#hold.take();
    this.endsAt = 0;
  }

  /** Length of the empty lines before the head, which some clients send after a body. */
  #emptyLinesBefore(chunk: Buffer): number | WireFault {
    let at = 0;
    for (;;) {
      if (this.#sawCr) {
        if (at === chunk.length) return at;
        if (chunk[at] !== lf) return malformed(strayCr);
        this.#sawCr = false;
        at += 1;
      }
      if (chunk[at] !== cr) return at;
      this.#sawCr = true;
      at += 1;
    }
  }

  /** A fault in the bytes so far. It is reported at once, as a client of another protocol would wait for an answer until the timeout. */
  #faultIn(from: number): WireFault | undefined {
    if (inToken[this.bytes[0] ?? 0] !== 1) return malformed('This is no HTTP; send "POST /v1/... HTTP/1.1".');
    for (let at = from; at < this.bytes.length; at += 1) {
      const code = this.bytes[at] ?? 0;
      if (isForbidden(code)) return malformed('The head of the message holds a control character.');
      if (code === lf && this.bytes[at - 1] !== cr)
        return malformed('A line ends with LF alone; lines end with CR LF.');
      if (code !== lf && this.bytes[at - 1] === cr) return malformed(strayCr);
    }
    return undefined;
  }
}
