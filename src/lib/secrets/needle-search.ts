/** Searches chunks of bytes for many texts (needles) at once, reading blocks at a distance that even the shortest needle cannot lie between. */

import { Buffer } from 'node:buffer';

const blockBytes = 4;
/** Size of the hash table for each block: few blocks then match by chance, and the table fits the processor's first caches. */
const entriesPerBlock = 32;
const mostTableBits = 17;

interface Occurrence {
  readonly needle: Buffer;
  readonly offset: number;
}

export class NeedleSearch {
  readonly shortestBytes: number;
  readonly longestBytes: number;
  readonly #needles: readonly Buffer[];
  readonly #stepBytes: number;
  /** By hash: 1 where a block of a needle has this hash. */
  readonly #isKnown: Uint8Array;
  readonly #shift: number;
  readonly #occurrences = new Map<number, Occurrence[]>();
  readonly #isFirstByte = new Uint8Array(256);
  /** By byte: 1 where a needle contains it, other than as its last byte. */
  readonly #isInside = new Uint8Array(256);

  /** No needle may be shorter than four bytes. */
  constructor(needles: Iterable<string>) {
    this.#needles = [...new Set(needles)].map((needle) => Buffer.from(needle));
    const lengths = this.#needles.map(({ length }) => length);
    const shortestBytes = Math.min(...lengths);
    this.shortestBytes = shortestBytes;
    if (shortestBytes < blockBytes) throw new RangeError(`a needle is shorter than ${blockBytes} bytes`);
    this.longestBytes = Math.max(0, ...lengths);
    this.#stepBytes = this.isEmpty ? 0 : shortestBytes - blockBytes + 1;
    const blocks = Math.max(1, this.#needles.length * this.#stepBytes);
    const tableBits = Math.min(mostTableBits, Math.ceil(Math.log2(blocks * entriesPerBlock)));
    this.#shift = 32 - tableBits;
    this.#isKnown = new Uint8Array(1 << tableBits);
    for (const needle of this.#needles) this.#add(needle);
  }

  get isEmpty(): boolean {
    return this.#needles.length === 0;
  }

  find(bytes: Buffer): number {
    const last = bytes.length - blockBytes;
    const step = this.#stepBytes;
    if (step === 0 || last < 0) return -1;
    const isKnown = this.#isKnown;
    const shift = this.#shift;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = step - 1; at <= last; at += step) {
      const block = view.getInt32(at, true);
      if (isKnown[hashOf(block, shift)] === 0) continue;
      const occurrences = this.#occurrences.get(block);
      if (occurrences === undefined) continue;
      const start = startAround(occurrences, bytes, at);
      if (start !== -1) return start;
    }
    return -1;
  }

  /** The number of bytes at the end that are the beginning of a needle, which may continue in the next chunk. */
  beginningAtEnd(bytes: Buffer): number {
    const { length } = bytes;
    const first = Math.max(0, length - this.longestBytes + 1);
    let start = length;
    while (start > first && this.#isInside[bytes[start - 1] ?? 0] === 1) start -= 1;
    for (; start < length; start += 1) {
      if (this.#isFirstByte[bytes[start] ?? 0] === 1 && this.#isBeginning(bytes, start)) return length - start;
    }
    return 0;
  }

  #add(needle: Buffer): void {
    this.#isFirstByte[needle[0] ?? 0] = 1;
    for (const byte of needle.subarray(0, -1)) this.#isInside[byte] = 1;
    for (let offset = 0; offset < this.#stepBytes; offset += 1) {
      const block = needle.readInt32LE(offset);
      const occurrences = this.#occurrences.get(block);
      if (occurrences === undefined) this.#occurrences.set(block, [{ needle, offset }]);
      else occurrences.push({ needle, offset });
      this.#isKnown[hashOf(block, this.#shift)] = 1;
    }
  }

  #isBeginning(bytes: Buffer, start: number): boolean {
    const { length: end } = bytes;
    const length = end - start;
    return this.#needles.some((needle) => length < needle.length && needle.compare(bytes, start, end, 0, length) === 0);
  }
}

/** Offset of the first needle that has the block at `at`; -1 where none is there. */
function startAround(occurrences: readonly Occurrence[], bytes: Buffer, at: number): number {
  let first = -1;
  for (const { needle, offset } of occurrences) {
    const start = at - offset;
    const end = start + needle.length;
    if (start < 0 || end > bytes.length || (first !== -1 && start >= first)) continue;
    if (needle.compare(bytes, start, end) === 0) first = start;
  }
  return first;
}

/** Hashes a block by multiplication, and keeps as many upper bits as the table needs. */
function hashOf(block: number, shift: number): number {
  return Math.imul(block, 0x9e3779b1) >>> shift;
}
