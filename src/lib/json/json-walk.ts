/** Walks a JSON document in its bytes: validates it and reports the positions of values. */

import type { Buffer } from 'node:buffer';
import type { JsonSpan } from './json-elements.ts';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-tokens.ts';

/** It is no JSON, or goes deeper than anyone nests in earnest. */
export class JsonWalkError extends Error {
  constructor(what: string, at: number) {
    super(`${what} at byte ${at}`);
    this.name = 'JsonWalkError';
  }
}

export interface NumberList extends JsonSpan {
  readonly length: number;
}

const deepest = 64;

export class JsonWalk {
  readonly bytes: Buffer;
  at: number;
  readonly #end: number;
  #depth = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = start;
    this.#end = end;
  }

  /** Over white space, to the byte that stands behind it; 0 at the end. */
  peek(): number {
    const { bytes } = this;
    let { at } = this;
    while (at < this.#end && isSpace(bytes[at])) at += 1;
    this.at = at;
    return at < this.#end ? (bytes[at] ?? 0) : 0;
  }

  /** Throws where anything but white space is left. */
  end(): void {
    if (this.peek() !== 0 || this.at < this.#end) throw this.#fault('something behind the end');
  }

  /** Over the value that comes. */
  value(): JsonSpan {
    switch (this.peek()) {
      case QUOTE:
        return this.text();
      case OPEN_BRACE:
        return this.object(() => void this.value());
      case OPEN_BRACKET:
        return this.numbers() ?? this.list(() => void this.value());
      default:
        return this.#word();
    }
  }

  /** `onMember` has to go over the value. */
  object(onMember: (name: string) => void): JsonSpan {
    this.peek();
    const start = this.at;
    for (const name of this.members()) onMember(name);
    return { start, end: this.at };
  }

  /** `onElement` has to go over the value. */
  list(onElement: (index: number) => void): JsonSpan {
    this.peek();
    const start = this.at;
    for (const index of this.elements()) onElement(index);
    return { start, end: this.at };
  }

  /** Over an object, member by member: whoever takes a name goes over its value before it takes the next. */
  *members(): Generator<string, void, undefined> {
    this.#open(OPEN_BRACE);
    if (this.peek() !== CLOSE_BRACE) {
      do {
        const name = this.nameAt();
        this.#take(COLON);
        yield name;
      } while (this.#goesOn(CLOSE_BRACE));
    }
    this.#close();
  }

  /** Over a list, in the same way. */
  *elements(): Generator<number, void, undefined> {
    this.#open(OPEN_BRACKET);
    if (this.peek() !== CLOSE_BRACKET) {
      let index = 0;
      do {
        yield index;
        index += 1;
      } while (this.#goesOn(CLOSE_BRACKET));
    }
    this.#close();
  }

  /** Over a list of one or more numbers and nothing else; undefined, and nothing is passed over, where it is another. */
  numbers(): NumberList | undefined {
    if (this.peek() !== OPEN_BRACKET) return undefined;
    const { bytes } = this;
    const end = this.#end;
    const start = this.at;
    let state: number = inList.beforeFirst;
    let commas = 0;
    let at = start + 1;
    while (at < end) {
      state = nextInList[(state << 4) | (classes[bytes[at] ?? 0] ?? 0)] ?? inList.other;
      at = (at + 1) | 0;
      if (state === inList.fraction) {
        // Most of what stands in a vector: digits behind a dot, which change nothing.
        while (at < end && isDigit(bytes[at])) at = (at + 1) | 0;
      } else if (state === inList.comma) commas = (commas + 1) | 0;
      else if (state >= inList.closed) break;
    }
    if (state !== inList.closed) return undefined;
    this.at = at;
    return { start, end: at, length: commas + 1 };
  }

  text(): JsonSpan {
    const start = this.at;
    if (this.bytes[start] !== QUOTE) throw this.#fault('no text');
    const { bytes } = this;
    const end = this.#end;
    let at = start + 1;
    let escapes = false;
    for (;;) {
      while (at < end && isPlain[bytes[at] ?? 0] === 1) at = (at + 1) | 0;
      const byte = at < end ? (bytes[at] ?? 0) : 0;
      if (byte === QUOTE) break;
      if (byte < 0x20) throw this.#fault('a text without end', at);
      if (byte === BACKSLASH) {
        escapes = true;
        at += 1;
      }
      at += 1;
    }
    this.at = at + 1;
    const span = { start, end: this.at };
    if (escapes) this.#decoded(span);
    return span;
  }

  /** What a text says that was passed over. */
  textOf({ start, end }: JsonSpan): string {
    const raw = this.bytes.toString('utf8', start + 1, end - 1);
    return raw.includes('\\') ? this.#decoded({ start, end }) : raw;
  }

  /** The name of a member. */
  nameAt(): string {
    this.peek();
    return this.textOf(this.text());
  }

  #decoded({ start, end }: JsonSpan): string {
    try {
      return String(JSON.parse(this.bytes.toString('utf8', start, end)));
    } catch {
      throw this.#fault('an escape that there is not', start);
    }
  }

  /** A number, true, false or null. */
  #word(): JsonSpan {
    const start = this.at;
    let { at } = this;
    while (at < this.#end && isOfWord(this.bytes[at])) at += 1;
    const word = this.bytes.toString('latin1', start, at);
    if (!/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(word)) throw this.#fault('no value');
    this.at = at;
    return { start, end: at };
  }

  #open(byte: number): void {
    this.#take(byte);
    this.#depth += 1;
    if (this.#depth > deepest) throw this.#fault(`more than ${deepest} levels`);
  }

  #close(): void {
    this.at += 1;
    this.#depth -= 1;
  }

  #take(byte: number): void {
    if (this.peek() !== byte) throw this.#fault(`no ${JSON.stringify(String.fromCharCode(byte))}`);
    this.at += 1;
  }

  #goesOn(close: number): boolean {
    const byte = this.peek();
    if (byte === close) return false;
    if (byte !== COMMA) throw this.#fault('neither a comma nor an end');
    this.at += 1;
    return true;
  }

  #fault(what: string, at = this.at): JsonWalkError {
    return new JsonWalkError(what, at);
  }
}

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** What stands in a text for itself. */
const isPlain = new Uint8Array(256).fill(1, 0x20);
isPlain[QUOTE] = 0;
isPlain[BACKSLASH] = 0;

const isDigit = (byte = 0): boolean => byte >= 0x30 && byte <= 0x39;

/** Letters, digits, signs and the dot. */
const isOfWord = (byte = 0): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2b ||
  byte === 0x2e ||
  byte === 0x45;

/** Where one is in a list of numbers. */
const inList = {
  comma: 0,
  beforeNumber: 1,
  beforeFirst: 2,
  minus: 3,
  zero: 4,
  whole: 5,
  dot: 6,
  fraction: 7,
  exponent: 8,
  exponentSign: 9,
  power: 10,
  behindNumber: 11,
  closed: 12,
  other: 13,
} as const;

/** What a byte is there; all that is not in it is 0, which is nothing that may be. */
const classOf = { space: 1, minus: 2, plus: 3, zero: 4, digit: 5, dot: 6, e: 7, comma: 8, close: 9 } as const;

const classes = new Uint8Array(256);
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) classes[byte] = classOf.space;
for (let byte = 0x31; byte <= 0x39; byte += 1) classes[byte] = classOf.digit;
classes[0x2d] = classOf.minus;
classes[0x2b] = classOf.plus;
classes[0x30] = classOf.zero;
classes[0x2e] = classOf.dot;
classes[0x65] = classOf.e;
classes[0x45] = classOf.e;
classes[COMMA] = classOf.comma;
classes[CLOSE_BRACKET] = classOf.close;

/** By the state, and by the class of the byte that comes. */
const nextInList = new Uint8Array(256).fill(inList.other);
const { space, minus, plus, zero, digit, dot, e, comma, close } = classOf;
const go = (from: number, on: number, to: number): void => {
  nextInList[(from << 4) | on] = to;
};
for (const from of [inList.comma, inList.beforeNumber, inList.beforeFirst]) {
  go(from, space, from === inList.beforeFirst ? inList.beforeFirst : inList.beforeNumber);
  go(from, minus, inList.minus);
  go(from, zero, inList.zero);
  go(from, digit, inList.whole);
}
go(inList.minus, zero, inList.zero);
go(inList.minus, digit, inList.whole);
for (const on of [zero, digit]) {
  go(inList.whole, on, inList.whole);
  for (const from of [inList.dot, inList.fraction]) go(from, on, inList.fraction);
  for (const from of [inList.exponent, inList.exponentSign, inList.power]) go(from, on, inList.power);
}
for (const from of [inList.zero, inList.whole]) go(from, dot, inList.dot);
for (const from of [inList.zero, inList.whole, inList.fraction]) go(from, e, inList.exponent);
for (const on of [minus, plus]) go(inList.exponent, on, inList.exponentSign);
for (const from of [inList.zero, inList.whole, inList.fraction, inList.power, inList.behindNumber]) {
  go(from, space, inList.behindNumber);
  go(from, comma, inList.comma);
  go(from, close, inList.closed);
}
