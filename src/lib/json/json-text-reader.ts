/** Parses one JSON text value by value; it can pause after any of them. */

import { type Json, JsonNumber, JsonNumbers, type JsonObject } from './json-value.ts';

export class JsonTextError extends Error {
  readonly at: number;

  constructor(problem: string, at: number) {
    super(`${problem} at character ${at}`);
    this.name = 'JsonTextError';
    this.at = at;
  }
}

/** The text exceeds a limit, though it may be valid JSON. */
export class JsonTooMuch extends JsonTextError {
  /** The exceeded limit, such as `4 values`. */
  readonly limit: string;

  constructor(limit: string, at: number) {
    super(`more than ${limit}`, at);
    this.limit = limit;
  }
}

export interface ReadingLimits {
  readonly maxDepth: number;
  /** Limit of all values: each takes some sixty bytes of memory, however short its text; a list of numbers counts as one. */
  readonly maxValues: number;
  /** Limit of the elements in one list; lists of numbers are exempt. */
  readonly maxElements: number;
  readonly maxMembers: number;
  readonly maxNameCharacters: number;
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const LOWER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const words: readonly (readonly [word: string, value: Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

const needsDecoding = /[\\\x00-\x1f]/;
const beyondSpace = /[^ \n\r\t]/g;
const beyondDigits = /[^0-9]/g;
/** Up to this length white space and digits are searched one by one; a native search, for longer texts, takes as long to start. */
const nearCharacters = 32;
/** Characters read between two points where reading may pause: far less than a millisecond of work. */
const charactersPerPiece = 16 * 1024;
/** Lists of numbers up to this length, such as most vectors, are read without a pause. */
const shortNumbersCharacters = 64 * 1024;
/** One more than the length of the longest escape, so that an escape around an offset begins within this distance. */
const longestEscape = 6;

/** A parsed object: it has only its own members, whatever their names, and takes a third of the memory of `Object.create(null)`. */
class Members {
  [name: string]: Json;
}
Reflect.deleteProperty(Members.prototype, 'constructor');
Object.setPrototypeOf(Members.prototype, null);

/** A value read in time slices: it may pause at every `yield`. */
type Reading = Generator<undefined, Json, undefined>;

export class JsonTextReader {
  readonly #text: string;
  readonly #limits: ReadingLimits;
  #at = 0;
  #depth = 0;
  values = 0;
  #nextPieceAt = charactersPerPiece;
  /** A list of numbers that is longer than a piece, being read. */
  #longNumbers: Generator<undefined, JsonNumbers | undefined, undefined> | undefined = undefined;

  constructor(text: string, limits: ReadingLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  *document(): Reading {
    this.#skipSpace();
    const plain = this.#plainValue();
    const value = plain === undefined ? yield* this.#longValue() : plain;
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  /** Reads a scalar that is not long, or a list of numbers; undefined for any other value. */
  #plainValue(): Json | undefined {
    const { maxValues } = this.#limits;
    this.values += 1;
    if (this.values > maxValues) throw new JsonTooMuch(`${maxValues} values`, this.#at);
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#shortString();
    if (code === OPEN_BRACE) return undefined;
    if (code === OPEN_BRACKET) return this.#shortNumbers();
    if (code === MINUS || isDigit(code)) {
      const start = this.#at;
      this.#at = this.#endOfNumber(start);
      return new JsonNumber(this.#text.slice(start, this.#at));
    }
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#unexpected();
  }

  *#longValue(): Reading {
    if (this.#text.charCodeAt(this.#at) === QUOTE) return yield* this.#longString();
    const begun = this.#longNumbers;
    this.#longNumbers = undefined;
    const numbers = begun === undefined ? undefined : yield* begun;
    return numbers ?? (yield* this.#container());
  }

  *#container(): Reading {
    this.#depth += 1;
    if (this.#depth > this.#limits.maxDepth) {
      throw new JsonTextError(`more than ${this.#limits.maxDepth} levels`, this.#at);
    }
    const isObject = this.#text.charCodeAt(this.#at) === OPEN_BRACE;
    this.#at += 1;
    this.#skipSpace();
    const value = isObject ? yield* this.#members() : yield* this.#elements();
    this.#depth -= 1;
    return value;
  }

  *#members(): Generator<undefined, JsonObject, undefined> {
    const { maxMembers } = this.#limits;
    const members = new Members();
    if (this.#skip(CLOSE_BRACE)) return members;
    for (let count = 1; ; count += 1) {
      if (count > maxMembers) throw new JsonTooMuch(`${maxMembers} members in one object`, this.#at);
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#unexpected();
      const name = this.#name();
      this.#skipSpace();
      if (!this.#skip(COLON)) throw this.#unexpected();
      this.#skipSpace();
      const plain = this.#plainValue();
      members[name] = plain === undefined ? yield* this.#longValue() : plain;
      this.#skipSpace();
      if (this.#skip(CLOSE_BRACE)) return members;
      if (!this.#skip(COMMA)) throw this.#unexpected();
      this.#skipSpace();
      if (this.#isPieceOver()) yield;
    }
  }

  *#elements(): Generator<undefined, readonly Json[], undefined> {
    const { maxElements } = this.#limits;
    const elements: Json[] = [];
    if (this.#skip(CLOSE_BRACKET)) return elements;
    for (;;) {
      if (elements.length >= maxElements) throw new JsonTooMuch(`${maxElements} elements in one list`, this.#at);
      const plain = this.#plainValue();
      elements.push(plain === undefined ? yield* this.#longValue() : plain);
      this.#skipSpace();
      if (this.#skip(CLOSE_BRACKET)) return elements;
      if (!this.#skip(COMMA)) throw this.#unexpected();
      this.#skipSpace();
      if (this.#isPieceOver()) yield;
    }
  }

  #isPieceOver(): boolean {
    if (this.#at < this.#nextPieceAt) return false;
    this.#nextPieceAt = this.#at + charactersPerPiece;
    return true;
  }

  /** Reads a short list of numbers; undefined for anything else, with nothing consumed. */
  #shortNumbers(): JsonNumbers | undefined {
    const start = this.#at;
    const limit = start + shortNumbersCharacters;
    let at = start;
    let count = 0;
    do {
      at = this.#endOfSpace(at + 1);
      const code = this.#text.charCodeAt(at);
      if (code !== MINUS && !isDigit(code)) return undefined;
      at = this.#endOfSpace(this.#endOfNumber(at));
      count += 1;
    } while (this.#text.charCodeAt(at) === COMMA && at < limit);
    if (this.#text.charCodeAt(at) === COMMA) {
      this.#longNumbers = this.#numbers(start, at, count);
      return undefined;
    }
    return this.#numbersUpTo(start, at, count);
  }

  /** Reads a long list of numbers, from the position after those already read. */
  *#numbers(start: number, from: number, read: number): Generator<undefined, JsonNumbers | undefined, undefined> {
    let at = from;
    let count = read;
    let nextPieceAt = from + charactersPerPiece;
    do {
      at = this.#endOfSpace(at + 1);
      const code = this.#text.charCodeAt(at);
      if (code !== MINUS && !isDigit(code)) return undefined;
      at = this.#endOfSpace(this.#endOfNumber(at));
      count += 1;
      if (at >= nextPieceAt) {
        nextPieceAt = at + charactersPerPiece;
        yield;
      }
    } while (this.#text.charCodeAt(at) === COMMA);
    return this.#numbersUpTo(start, at, count);
  }

  #numbersUpTo(start: number, end: number, count: number): JsonNumbers {
    this.#at = end;
    if (!this.#skip(CLOSE_BRACKET)) throw this.#unexpected();
    const { maxDepth } = this.#limits;
    if (this.#depth >= maxDepth) throw new JsonTextError(`more than ${maxDepth} levels`, start);
    return new JsonNumbers(this.#text.slice(start, this.#at), count);
  }

  #name(): string {
    const start = this.#at;
    const { maxNameCharacters } = this.#limits;
    const name = this.#shortString();
    if (name !== undefined && name.length <= maxNameCharacters) return name;
    throw new JsonTooMuch(`${maxNameCharacters} characters in one name`, start);
  }

  /** Reads a short string; undefined for a long one, with nothing consumed. */
  #shortString(): string | undefined {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end === -1) throw new JsonTextError('an unterminated string', start);
      if (end - start > charactersPerPiece) return undefined;
    } while (this.#isEscaped(end, start + 1));
    this.#at = end + 1;
    return this.#decoded(start + 1, end);
  }

  /** Reads a long string in pieces, none of which ends within an escape. */
  *#longString(): Generator<undefined, string, undefined> {
    const text = this.#text;
    const start = this.#at + 1;
    let decoded = '';
    let isPlain = true;
    let quote = start - 1;
    for (let from = start; ; ) {
      while (quote !== -1 && (quote < from || (quote - from < charactersPerPiece && this.#isEscaped(quote, from)))) {
        quote = text.indexOf('"', quote + 1);
      }
      if (quote === -1) throw new JsonTextError('an unterminated string', start - 1);
      const isLast = quote - from < charactersPerPiece;
      const to = isLast ? quote : this.#endOfPiece(from);
      const piece = this.#decoded(from, to);
      isPlain &&= piece.length === to - from;
      decoded += piece;
      if (isLast) {
        this.#at = quote + 1;
        return isPlain ? text.slice(start, quote) : decoded;
      }
      from = to;
      yield;
    }
  }

  /** Offset at which a piece that starts at `from` may end: outside any escape. */
  #endOfPiece(from: number): number {
    const text = this.#text;
    const limit = from + charactersPerPiece;
    let at = limit - longestEscape;
    while (at < limit && text[at] !== '\\') at += 1;
    // The first backslash of several in a row begins an escape; those before it belong to the same row.
    while (at > from && text[at - 1] === '\\') at -= 1;
    // A piece that begins with backslashes has room for pairs of them.
    return at > from ? at : from + charactersPerPiece - longestEscape - ((charactersPerPiece - longestEscape) % 2);
  }

  #decoded(from: number, to: number): string {
    const raw = this.#text.slice(from, to);
    if (!needsDecoding.test(raw)) return raw;
    try {
      const decoded: unknown = JSON.parse(`"${raw}"`);
      return String(decoded);
    } catch {
      throw new JsonTextError('an ill-formed string', from - 1);
    }
  }

  /** Whether an odd number of backslashes, from `start` on, precedes the character. */
  #isEscaped(at: number, start: number): boolean {
    let before = at - 1;
    while (before >= start && this.#text[before] === '\\') before -= 1;
    return (at - before) % 2 === 0;
  }

  #endOfNumber(start: number): number {
    const text = this.#text;
    let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
    at = text.charCodeAt(at) === ZERO ? at + 1 : this.#endOfDigits(at);
    if (text.charCodeAt(at) === POINT) at = this.#endOfDigits(at + 1);
    const letter = text.charCodeAt(at);
    if (letter !== LOWER_E && letter !== UPPER_E) return at;
    const sign = text.charCodeAt(at + 1);
    return this.#endOfDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
  }

  #endOfDigits(start: number): number {
    const text = this.#text;
    const near = start + nearCharacters;
    let at = start;
    while (at < near && isDigit(text.charCodeAt(at))) at += 1;
    if (at === near) return this.#next(beyondDigits, at);
    if (at > start) return at;
    this.#at = at;
    throw this.#unexpected();
  }

  #endOfSpace(start: number): number {
    const text = this.#text;
    let at = start;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code > SPACE || (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB)) return at;
      at += 1;
      if (at - start > nearCharacters) return this.#next(beyondSpace, at);
    }
  }

  #next(kind: RegExp, from: number): number {
    kind.lastIndex = from;
    return kind.exec(this.#text)?.index ?? this.#text.length;
  }

  #skipSpace(): void {
    this.#at = this.#endOfSpace(this.#at);
  }

  #skip(code: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== code) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(): JsonTextError {
    const found = this.#text[this.#at];
    return new JsonTextError(found === undefined ? 'an early end' : `an unexpected ${JSON.stringify(found)}`, this.#at);
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
