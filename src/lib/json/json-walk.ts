/** Walks a JSON document in its bytes: validates it and reports the positions of values. */

import type { Buffer } from 'node:buffer';
import type { JsonSpan } from './json-elements.ts';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  endOfNumber,
  endOfSpace,
  endOfText,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from './json-tokens.ts';

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
  readonly #words: DataView;
  readonly #end: number;
  #depth = 0;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = start;
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#end = end;
  }

  /** Skips white space; returns the next byte without consuming it, 0 at the end. */
  peek(): number {
    if ((this.bytes[this.at] ?? 0) <= SPACE) this.at = endOfSpace(this.bytes, this.at, this.#end);
    return this.at < this.#end ? (this.bytes[this.at] ?? 0) : 0;
  }

  end(): void {
    if (this.peek() !== 0 || this.at < this.#end) throw this.#fault('something behind the end');
  }

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

  /** Reads an object; `onMember` must read the member's value. */
  object(onMember: (name: string) => void): JsonSpan {
    this.peek();
    const start = this.at;
    for (const name of this.members()) onMember(name);
    return { start, end: this.at };
  }

  /** Reads a list; `onElement` must read the element. */
  list(onElement: (index: number) => void): JsonSpan {
    this.peek();
    const start = this.at;
    for (const index of this.elements()) onElement(index);
    return { start, end: this.at };
  }

  /** Iterates over an object's names: the caller must read the value of each before it takes the next. */
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

  /** Iterates over a list: the caller must read each element before it takes the next. */
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

  /** Reads a list of one or more numbers only; undefined, with nothing read, for any other value. */
  numbers(): NumberList | undefined {
    if (this.peek() !== OPEN_BRACKET) return undefined;
    const { bytes } = this;
    const words = this.#words;
    const end = this.#end;
    const start = this.at;
    let at = start;
    let length = 0;
    do {
      at = (at + 1) | 0;
      if ((bytes[at] ?? 0) <= SPACE) at = endOfSpace(bytes, at, end);
      if (at < end) at = endOfNumber(bytes, words, at, end);
      if (at === 0 || at >= end) return undefined;
      if ((bytes[at] ?? 0) <= SPACE) at = endOfSpace(bytes, at, end);
      length = (length + 1) | 0;
    } while (at < end && bytes[at] === COMMA);
    if (at >= end || bytes[at] !== CLOSE_BRACKET) return undefined;
    this.at = at + 1;
    return { start, end: this.at, length };
  }

  text(): JsonSpan {
    const start = this.at;
    if (this.bytes[start] !== QUOTE) throw this.#fault('no text');
    const end = endOfText(this.bytes, this.#words, start + 1, this.#end, this.#end);
    if (end >= this.#end || (end < 0 && (this.bytes[~end] ?? 0) < SPACE)) {
      throw this.#fault('a text without end', end < 0 ? ~end : end);
    }
    if (end < 0) throw this.#fault('an escape that there is not', start);
    this.at = end + 1;
    return { start, end: this.at };
  }

  textOf({ start, end }: JsonSpan): string {
    const raw = this.bytes.toString('utf8', start, end);
    return raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
  }

  nameAt(): string {
    this.peek();
    return this.textOf(this.text());
  }

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

const isOfWord = (byte = 0): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2b ||
  byte === 0x2e ||
  byte === 0x45;
