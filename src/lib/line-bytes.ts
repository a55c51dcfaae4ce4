/** Assembles lines as bytes, piece by piece: as a text of many pieces, each would cost V8 an object, and a copy in the end. */

import { Buffer } from 'node:buffer';
import { toNumber } from './json/json-pieces.ts';

const bytesOfNumber = 24;
const zero = 48;
const point = 46;

export class LineBytes {
  bytes: Buffer;
  length = 0;

  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  ascii(text: string): void {
    this.#makeSpace(text.length);
    const { bytes, length } = this;
    for (let at = 0; at < text.length; at += 1) bytes[length + at] = text.charCodeAt(at);
    this.length = length + text.length;
  }

  text(text: string): void {
    // A character takes at most three bytes of UTF-8.
    this.#makeSpace(text.length * 3);
    this.length += this.bytes.write(text, this.length);
  }

  copy(bytes: Uint8Array): void {
    this.#makeSpace(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Adds a number as JSON writes it, and `null` for what JSON has no number for. */
  number(value: number | null | undefined): void {
    if (typeof value === 'number' && value >= 0 && value < 2 ** 31 && value % 1 === 0) this.#digits(value);
    else this.ascii(String(toNumber(value)));
  }

  /** Adds a number, rounded to one digit after the decimal point. */
  tenths(value: number): void {
    const tenths = Math.round(value * 10);
    if (!(tenths >= 0 && tenths < 2 ** 31)) {
      this.number(tenths / 10);
      return;
    }
    const whole = (tenths / 10) | 0;
    this.#digits(whole);
    if (tenths === whole * 10) return;
    this.bytes[this.length++] = point;
    this.bytes[this.length++] = zero + tenths - whole * 10;
  }

  /** Takes the bytes up to `end` out; those after it move to the beginning. */
  take(end = this.length): Buffer {
    const taken = Buffer.from(this.bytes.subarray(0, end));
    this.bytes.copyWithin(0, end, this.length);
    this.length -= end;
    return taken;
  }

  #digits(value: number): void {
    this.#makeSpace(bytesOfNumber);
    const { bytes } = this;
    let end = this.length + 1;
    for (let rest = value; rest >= 10; rest = (rest / 10) | 0) end += 1;
    this.length = end;
    let rest = value;
    do {
      const next = (rest / 10) | 0;
      bytes[--end] = zero + rest - next * 10;
      rest = next;
    } while (rest > 0);
  }

  #makeSpace(bytes: number): void {
    const needed = this.length + bytes;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(needed)));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
