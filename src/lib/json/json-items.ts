/** Counts what a list in a JSON body holds, on its bytes: elements, and single values. The body was scanned and is valid. */

import type { Buffer } from 'node:buffer';
import { sliceIfOver } from '../time-slices.ts';
import { type JsonField, kindBits } from './json-result.ts';

export interface ItemCount {
  /** Elements of the list. */
  readonly elements: number;
  /** In a list of numbers, or of lists of numbers: how many numbers; else no less than `elements`. */
  readonly values: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A longer list is counted in turns, so that other exchanges go on meanwhile. */
const oneSliceBytes = 512 * 1024;
const bytesPerPiece = 128 * 1024;
/** A view of words costs more than it saves on a short list. */
const shortBytes = 256;

const empty: ItemCount = Object.freeze({ elements: 0, values: 0 });
const numbers = kindBits('number');
const lists = kindBits('array');

interface Tally {
  /** Goes on for about so many bytes; false once nothing is left. */
  advance(byteCount: number): boolean;
  count(): ItemCount;
}

/** Without a promise where the list is not long. */
export function countItems(body: Buffer, field: JsonField): ItemCount | Promise<ItemCount> {
  const { firstElement, textCount } = field;
  if (firstElement === undefined) return empty;
  if (textCount > 0) return { elements: textCount, values: textCount };
  const tally = tallyFor(body, field);
  if (field.end - field.start > oneSliceBytes) return countSliced(tally);
  tally.advance(field.end);
  return tally.count();
}

async function countSliced(tally: Tally): Promise<ItemCount> {
  while (tally.advance(bytesPerPiece)) await sliceIfOver();
  return tally.count();
}

function tallyFor(body: Buffer, { start, end, elementKinds }: JsonField): Tally {
  if (end - start < shortBytes) return new AnyTally(body, start, end);
  const isPlain = elementKinds === numbers || (elementKinds === lists && isWithout(body, QUOTE, start, end));
  return isPlain && isWithout(body, OPEN_BRACE, start, end)
    ? new NumberTally(body, start, end, elementKinds === lists)
    : new AnyTally(body, start, end);
}

function isWithout(body: Buffer, byte: number, start: number, end: number): boolean {
  const at = body.indexOf(byte, start);
  return at === -1 || at >= end;
}

/** Of four bytes. */
const LOW_BITS = 0x7f7f7f7f;
const ONES = 0x01010101;

/** The high bit of each byte that is 0, and no other. */
const zeros = (word: number): number => ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS);

const howMany = (highBits: number): number => Math.imul(highBits >>> 7, ONES) >>> 24;

/** From outside of an escape to the next quote, or past it where it belongs to the text. */
function nearNextQuote(bytes: Buffer, from: number, end: number): number {
  const quote = bytes.indexOf(QUOTE, from);
  if (quote === -1 || quote >= end) return end;
  let before = quote;
  while (before > from && bytes[before - 1] === BACKSLASH) before--;
  return ((quote - before) & 1) === 0 ? quote : quote + 1;
}

/** A list of numbers, or of lists of numbers, four bytes at a time. */
class NumberTally implements Tally {
  readonly #bytes: Buffer;
  readonly #words: DataView;
  readonly #end: number;
  readonly #isNested: boolean;
  #at: number;
  #commas = 0;
  #brackets = 0;

  constructor(bytes: Buffer, start: number, end: number, isNested: boolean) {
    this.#bytes = bytes;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#at = start;
    this.#end = end;
    this.#isNested = isNested;
  }

  advance(byteCount: number): boolean {
    const words = this.#words;
    const isNested = this.#isNested;
    const limit = Math.min(this.#at + byteCount, this.#end) - 4;
    let i = this.#at;
    let commas = 0;
    let brackets = 0;
    for (; i <= limit; i = (i + 4) | 0) {
      const word = words.getInt32(i, true);
      commas += howMany(zeros(word ^ 0x2c2c2c2c));
      if (isNested) brackets += howMany(zeros(word ^ 0x5b5b5b5b));
    }
    if (limit + 4 === this.#end) {
      for (; i < this.#end; i++) {
        if (this.#bytes[i] === COMMA) commas++;
        else if (this.#bytes[i] === OPEN_BRACKET) brackets++;
      }
    }
    this.#at = i;
    this.#commas += commas;
    this.#brackets += brackets;
    return i < this.#end;
  }

  /** A list in a list in the list is nothing that anyone reads; it would be counted as one more. */
  count(): ItemCount {
    const values = this.#commas + 1;
    return { elements: this.#isNested ? this.#brackets - 1 : values, values };
  }
}

/** By byte: whether it says nothing here, as digits, letters, colons and white space do. */
const isSilent = new Uint8Array(256).fill(1);
for (const c of [QUOTE, COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE]) isSilent[c] = 0;

/** So far a text is read byte by byte; what is longer is left to a native search, which costs as much to begin with. */
const nearBytes = 96;

/** Whatever the list holds. */
class AnyTally implements Tally {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;
  #depth = 0;
  #outerCommas = 0;
  #commas = 0;

  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  advance(byteCount: number): boolean {
    const bytes = this.#bytes;
    const limit = Math.min(this.#at + byteCount, this.#end);
    let i = this.#at;
    let depth = this.#depth;
    let outerCommas = this.#outerCommas;
    let commas = this.#commas;
    while (i < limit) {
      const c = bytes[i] ?? 0;
      i = (i + 1) | 0;
      if (isSilent[c] === 1) continue;
      if (c === QUOTE) i = (endOfText(bytes, i) + 1) | 0;
      else if (c === COMMA) {
        commas = (commas + 1) | 0;
        if (depth === 1) outerCommas = (outerCommas + 1) | 0;
      } else if (c === OPEN_BRACKET || c === OPEN_BRACE) depth = (depth + 1) | 0;
      else depth = (depth - 1) | 0;
    }
    this.#at = i;
    this.#depth = depth;
    this.#outerCommas = outerCommas;
    this.#commas = commas;
    return i < this.#end;
  }

  count(): ItemCount {
    return { elements: this.#outerCommas + 1, values: this.#commas + 1 };
  }
}

/** The place of the quote that ends the text whose content begins at `at`. */
function endOfText(bytes: Buffer, at: number): number {
  let i = at;
  for (;;) {
    const near = i + nearBytes;
    while (i < near) {
      const c = bytes[i];
      if (c === QUOTE || c === undefined) return i;
      i += c === BACKSLASH ? 2 : 1;
    }
    i = nearNextQuote(bytes, i, bytes.length);
  }
}
