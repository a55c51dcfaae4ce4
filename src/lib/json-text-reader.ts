/** Reads one JSON text, value by value; it can stop after any of them and go on later. */

import { type Json, JsonNumber, JsonNumbers, type JsonObject } from './json-value.ts';

/** Why a text is no JSON, or none that is read; `at` is a place in it. */
export class JsonTextError extends Error {
  readonly at: number;

  constructor(problem: string, at: number) {
    super(`${problem} at character ${at}`);
    this.name = 'JsonTextError';
    this.at = at;
  }
}

/** There are more values in the text than are read: it may be good JSON. */
export class JsonTooMany extends JsonTextError {}

export interface ReadingLimits {
  readonly maxDepth: number;
  /** Each value takes some sixty bytes of memory, however few it takes in the text; a list of numbers is one. */
  readonly maxValues: number;
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
/** About a millisecond of work. */
const charactersPerTurn = 64 * 1024;

/** A value that is read in turns: every `yield` is a place to stop. */
type Reading = Generator<undefined, Json, undefined>;

export class JsonTextReader {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #maxValues: number;
  #at = 0;
  #depth = 0;
  #values = 0;
  #nextTurnAt = charactersPerTurn;

  constructor(text: string, { maxDepth, maxValues }: ReadingLimits) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#maxValues = maxValues;
  }

  *document(): Reading {
    this.#skipSpace();
    const plain = this.#plainValue();
    const value = plain === undefined ? yield* this.#container() : plain;
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  /** A value that holds no others, or a list of nothing but numbers; undefined where another one begins here. */
  #plainValue(): Json | undefined {
    this.#values += 1;
    if (this.#values > this.#maxValues) throw new JsonTooMany(`more than ${this.#maxValues} values`, this.#at);
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#string();
    if (code === OPEN_BRACE) return undefined;
    if (code === OPEN_BRACKET) return this.#numbers();
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

  *#container(): Reading {
    this.#depth += 1;
    if (this.#depth > this.#maxDepth) throw new JsonTextError(`more than ${this.#maxDepth} levels`, this.#at);
    const isObject = this.#text.charCodeAt(this.#at) === OPEN_BRACE;
    this.#at += 1;
    this.#skipSpace();
    const value = isObject ? yield* this.#members() : yield* this.#elements();
    this.#depth -= 1;
    return value;
  }

  *#members(): Generator<undefined, JsonObject, undefined> {
    // Without a prototype, `__proto__` is a name like any other.
    const members: Record<string, Json> = Object.create(null);
    if (this.#skip(CLOSE_BRACE)) return members;
    for (;;) {
      if (this.#text.charCodeAt(this.#at) !== QUOTE) throw this.#unexpected();
      const name = this.#string();
      this.#skipSpace();
      if (!this.#skip(COLON)) throw this.#unexpected();
      this.#skipSpace();
      const plain = this.#plainValue();
      members[name] = plain === undefined ? yield* this.#container() : plain;
      this.#skipSpace();
      if (this.#skip(CLOSE_BRACE)) return members;
      if (!this.#skip(COMMA)) throw this.#unexpected();
      this.#skipSpace();
      if (this.#isTurnOver()) yield;
    }
  }

  *#elements(): Generator<undefined, readonly Json[], undefined> {
    const elements: Json[] = [];
    if (this.#skip(CLOSE_BRACKET)) return elements;
    for (;;) {
      const plain = this.#plainValue();
      elements.push(plain === undefined ? yield* this.#container() : plain);
      this.#skipSpace();
      if (this.#skip(CLOSE_BRACKET)) return elements;
      if (!this.#skip(COMMA)) throw this.#unexpected();
      this.#skipSpace();
      if (this.#isTurnOver()) yield;
    }
  }

  #isTurnOver(): boolean {
    if (this.#at < this.#nextTurnAt) return false;
    this.#nextTurnAt = this.#at + charactersPerTurn;
    return true;
  }

  /** The list that begins here where it holds nothing but numbers; else undefined, and nothing was read. */
  #numbers(): JsonNumbers | undefined {
    const start = this.#at;
    let at = start;
    let count = 0;
    do {
      at = this.#endOfSpace(at + 1);
      const code = this.#text.charCodeAt(at);
      if (code !== MINUS && !isDigit(code)) return undefined;
      at = this.#endOfSpace(this.#endOfNumber(at));
      count += 1;
    } while (this.#text.charCodeAt(at) === COMMA);
    this.#at = at;
    if (!this.#skip(CLOSE_BRACKET)) throw this.#unexpected();
    if (this.#depth >= this.#maxDepth) throw new JsonTextError(`more than ${this.#maxDepth} levels`, start);
    return new JsonNumbers(this.#text.slice(start, this.#at), count);
  }

  #string(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
      if (end === -1) throw new JsonTextError('an unterminated string', start);
    } while (this.#isEscaped(end, start));
    this.#at = end + 1;
    const raw = this.#text.slice(start + 1, end);
    if (!needsDecoding.test(raw)) return raw;
    try {
      const decoded: unknown = JSON.parse(`"${raw}"`);
      return String(decoded);
    } catch {
      throw new JsonTextError('an ill-formed string', start);
    }
  }

  /** Whether an odd number of backslashes stands before it. */
  #isEscaped(at: number, start: number): boolean {
    let before = at - 1;
    while (before > start && this.#text[before] === '\\') before -= 1;
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

  /** At least one. */
  #endOfDigits(start: number): number {
    let at = start;
    while (isDigit(this.#text.charCodeAt(at))) at += 1;
    if (at > start) return at;
    this.#at = at;
    throw this.#unexpected();
  }

  #endOfSpace(start: number): number {
    let at = start;
    for (;;) {
      const code = this.#text.charCodeAt(at);
      if (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB) return at;
      at += 1;
    }
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
