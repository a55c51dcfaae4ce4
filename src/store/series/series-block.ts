/** Writes and reads series blocks: the counts and sketches of a minute, hour or day, in one cell per combination of names. */

import { Buffer } from 'node:buffer';
import { seriesAmounts } from '../../core/store/series.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { positionsOf } from '../../lib/record-of.ts';
import { bucketCount, inOrder, type Pairs, Sketch } from '../../lib/sketch.ts';

/** Kinds of cells: for requests, and for calls to upstreams other than a request's only, successful call. */
export const cellKinds = { request: 0, attempt: 1 } as const;

/** The names of a cell, in the order of a block. */
export const cellNames = ['model', 'upstream', 'key', 'project', 'operation', 'outcome', 'code', 'cache'] as const;
export type CellName = (typeof cellNames)[number];
export const nameAt = positionsOf(cellNames);

/** Numbers that stand for a name in a block: `noName`: the cell has none; `othersName`: the name is too rare, and summed up with others. */
export const noName = 0;
export const othersName = 1;
const firstName = 2;
/** The name of `othersName` in a cell; no real name is the same, as names of keys and models have no control characters. */
export const others = '\u0001';

/** The counts, in the order of a cell. `direct` are calls to the cell's own upstream that no attempt cell has. */
export const counted = ['requests', 'attempts', 'failedAttempts', 'direct', 'directFailed', ...seriesAmounts] as const;
export const countAt = positionsOf(counted);

/** Each of these durations has a sketch. Blocks of older versions lack the last ones. */
export const sketched = ['duration', 'firstByte', 'overhead', 'wait'] as const;
export const sketchAt = positionsOf(sketched);

export class Cell {
  readonly kind: number;
  /** The names in the order of `cellNames`; a name that the cell lacks is empty. */
  readonly names: readonly string[];
  readonly counts: number[] = new Array(counted.length).fill(0);
  readonly sketches: readonly Pairs[] = sketched.map(() => []);

  constructor(kind: number, names: readonly string[]) {
    this.kind = kind;
    this.names = names;
  }

  add(index: number, amount: number): void {
    this.counts[index] = Math.min((this.counts[index] ?? 0) + amount, Number.MAX_SAFE_INTEGER);
  }

  addCell(other: Cell): void {
    for (let index = 0; index < counted.length; index++) this.add(index, other.counts[index] ?? 0);
    for (const [index, pairs] of other.sketches.entries()) {
      const own = this.sketches[index];
      for (const number of pairs) own?.push(number);
    }
  }
}

export class Cells {
  readonly #cells = new Map<string, Cell>();

  get size(): number {
    return this.#cells.size;
  }

  values(): Cell[] {
    return [...this.#cells.values()];
  }

  of(kind: number, names: readonly string[]): Cell {
    const name = `${kind}${names.join('\0')}`;
    return getOrMake(this.#cells, name, () => new Cell(kind, names));
  }
}

const version = 1;
const usualBytes = 64 * 1024;
const mostBytesOfNumber = 8;

class Writer {
  buffer = Buffer.allocUnsafeSlow(usualBytes);
  length = 0;

  varint(value: number): void {
    if (this.length + mostBytesOfNumber > this.buffer.length) this.#makeRoom(mostBytesOfNumber);
    const { buffer } = this;
    let rest = value;
    for (; rest >= 0x8000_0000; rest = Math.floor(rest / 128)) buffer[this.length++] = (rest % 128) | 0x80;
    for (; rest >= 0x80; rest >>>= 7) buffer[this.length++] = (rest & 0x7f) | 0x80;
    buffer[this.length++] = rest;
  }

  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.varint(bytes);
    this.#makeRoom(bytes);
    this.length += this.buffer.write(text, this.length);
  }

  bytes(other: Writer): void {
    this.#makeRoom(other.length);
    other.buffer.copy(this.buffer, this.length, 0, other.length);
    this.length += other.length;
  }

  #makeRoom(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(this.length + bytes)));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }
}

/** Buffers that are used again for every block. */
const whole = new Writer();
const inner = new Writer();

export function writeBlock(cells: readonly Cell[]): Buffer {
  const texts = new Map<string, number>();
  for (const { names } of cells) {
    for (const name of names) {
      if (name !== '' && name !== others && !texts.has(name)) texts.set(name, firstName + texts.size);
    }
  }
  whole.length = 0;
  whole.varint(version);
  whole.varint(texts.size);
  for (const text of texts.keys()) whole.text(text);
  whole.varint(cells.length);
  for (const cell of cells) {
    whole.varint(cell.kind);
    for (const name of cell.names)
      whole.varint(name === '' ? noName : name === others ? othersName : (texts.get(name) ?? noName));
    inner.length = 0;
    writeFigures(cell);
    whole.varint(inner.length);
    whole.bytes(inner);
  }
  return Buffer.from(whole.buffer.subarray(0, whole.length));
}

/** Writes a mask of the figures that are present, and then these figures. */
function writeFigures({ counts, sketches }: Cell): void {
  let mask = 0;
  for (let index = 0; index < counts.length; index++) if ((counts[index] ?? 0) > 0) mask |= 1 << index;
  for (let index = 0; index < sketches.length; index++) {
    if ((sketches[index]?.length ?? 0) > 0) mask |= 1 << (counted.length + index);
  }
  inner.varint(mask);
  for (const count of counts) if (count > 0) inner.varint(count);
  for (const pairs of sketches) if (pairs.length > 0) writeSketch(pairs);
}

function writeSketch(pairs: Pairs): void {
  const sorted = pairs.length > 2 ? sumOf(pairs) : pairs;
  inner.varint(sorted.length / 2);
  let before = 0;
  for (let at = 0; at + 1 < sorted.length; at += 2) {
    const bucket = sorted[at] ?? 0;
    inner.varint(bucket - before);
    inner.varint(sorted[at + 1] ?? 0);
    before = bucket;
  }
}

const longestList = 64;

function sumOf(pairs: Pairs): Pairs {
  if (pairs.length <= longestList) return inOrder(pairs);
  const sum = new Sketch();
  sum.add(pairs, pairs.length);
  return sum.toPairs();
}

/** Buffers shared by all readers: only the latest reading is valid. */
const ofCell = sketched.map(() => new Float64Array(2 * bucketCount));

export class BlockReader {
  readonly #bytes: Buffer;
  #at = 0;
  #end = 0;
  #body = 0;
  readonly #first: number;
  readonly cellCount: number;
  #left: number;
  readonly #offsets: number[] = [];
  readonly #texts: (string | undefined)[] = [];
  kind = 0;
  /** Where the present cell begins, to pass to `goTo` later. */
  start = 0;
  /** The numbers of the present cell's names: see `text` and `find`. */
  readonly names: number[] = new Array(cellNames.length).fill(noName);
  readonly counts = new Float64Array(counted.length);
  /** The pairs of each sketch of the present cell; `lengths` has how many numbers are valid. */
  readonly sketches = ofCell;
  readonly lengths: number[] = sketched.map(() => 0);

  constructor(data: Uint8Array) {
    this.#bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const found = this.#varint();
    if (found !== version)
      throw new RangeError(`a block of series has version ${found}, which this version cannot read`);
    const texts = this.#varint();
    for (let index = 0; index < texts; index++) {
      const bytes = this.#varint();
      this.#offsets.push(this.#at, bytes);
      this.#at += bytes;
    }
    this.cellCount = this.#varint();
    this.#left = this.cellCount;
    this.#first = this.#at;
    this.#end = this.#at;
  }

  rewind(): void {
    this.#left = this.cellCount;
    this.#end = this.#first;
  }

  /** Makes the cell that begins at `start` the next and last one to be read. */
  goTo(start: number): void {
    this.#left = 1;
    this.#end = start;
  }

  /** A number larger than those of all names in the block. */
  get nameCount(): number {
    return firstName + this.#offsets.length / 2;
  }

  text(name: number): string {
    if (name === noName) return '';
    if (name === othersName) return others;
    const index = name - firstName;
    let text = this.#texts[index];
    if (text === undefined) {
      const from = this.#offsets[2 * index] ?? 0;
      text = this.#bytes.toString('utf8', from, from + (this.#offsets[2 * index + 1] ?? 0));
      this.#texts[index] = text;
    }
    return text;
  }

  find(text: string): number | undefined {
    if (text === '') return noName;
    const bytes = Buffer.from(text);
    for (let index = 0; 2 * index < this.#offsets.length; index++) {
      if (this.#offsets[2 * index + 1] !== bytes.length) continue;
      const from = this.#offsets[2 * index] ?? 0;
      if (this.#bytes.compare(bytes, 0, bytes.length, from, from + bytes.length) === 0) return firstName + index;
    }
    return undefined;
  }

  next(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    const { names } = this;
    const bytes = this.#bytes;
    // The bytes are read without `#varint`, as this loop is most of the work where few cells match. Numbers of names, and lengths, are short.
    let at = this.#end;
    this.start = at;
    this.kind = bytes[at++] ?? 0;
    for (let index = 0; index <= cellNames.length; index++) {
      let byte = bytes[at++] ?? 0;
      let value = byte & 0x7f;
      for (let shift = 7; byte >= 0x80; shift += 7) {
        byte = bytes[at++] ?? 0;
        value |= (byte & 0x7f) << shift;
      }
      if (index < cellNames.length) names[index] = value;
      else this.#end = at + value;
    }
    this.#body = at;
    return true;
  }

  readRequests(): number {
    this.#at = this.#body;
    const mask = this.#varint();
    return (mask & 1) === 1 ? this.#varint() : 0;
  }

  readFigures(sketches: number = sketched.length): void {
    let mask = this.#readCounts();
    for (let index = 0; index < sketches; index++, mask >>>= 1) {
      const sketch = this.sketches[index];
      this.lengths[index] = (mask & 1) === 1 && sketch !== undefined ? this.#readSketch(sketch) : 0;
    }
  }

  readCounts(): void {
    this.#readCounts();
  }

  #readCounts(): number {
    this.#at = this.#body;
    let mask = this.#varint();
    for (let index = 0; index < counted.length; index++, mask >>>= 1) {
      this.counts[index] = (mask & 1) === 1 ? this.#varint() : 0;
    }
    return mask;
  }

  #readSketch(sketch: Float64Array): number {
    let bucket = 0;
    let at = 0;
    for (let left = this.#varint(); left > 0; left--) {
      bucket += this.#varint();
      sketch[at++] = bucket;
      sketch[at++] = this.#varint();
    }
    return at;
  }

  toCell(): Cell {
    this.readFigures();
    const cell = new Cell(
      this.kind,
      this.names.map((name) => this.text(name)),
    );
    for (const [index, count] of this.counts.entries()) cell.counts[index] = count;
    for (const [index, length] of this.lengths.entries()) {
      const own = cell.sketches[index];
      for (let at = 0; at < length; at++) own?.push(this.sketches[index]?.[at] ?? 0);
    }
    return cell;
  }

  #varint(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#at++] ?? 0;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let factor = 128; ; factor *= 128) {
      byte = bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }
}
