/** Picks texts or numbers at given paths out of JSON that arrives in pieces. It does not validate the JSON. */

import { Buffer } from 'node:buffer';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-tokens.ts';
import { readJson } from './read-json.ts';

export interface Picked {
  /** The path that matched, as given: dotted names, `*` for any element of a list. */
  readonly path: string;
  readonly text: string;
}

interface Node {
  readonly names: Map<string, Node>;
  any: Node | undefined;
  path: string | undefined;
}

interface Frame {
  readonly isObject: boolean;
  readonly node: Node;
}

/** Longest name or text that is matched: six bytes a character where all are escaped. */
const longestBytes = 2_048;

const longestNumber = 30;
const isOfNumber = (byte: number): boolean => (byte >= 0x30 && byte <= 0x39) || numberSigns.has(byte);
/** Bytes that a number can have besides digits: `+-.eE`. */
const numberSigns: ReadonlySet<number> = new Set([0x2b, 0x2d, 0x2e, 0x45, 0x65]);

const newNode = (): Node => ({ names: new Map(), any: undefined, path: undefined });

export class JsonPicker {
  readonly #root: Node = newNode();
  readonly #picksLong: boolean;
  readonly #picksNumbers: boolean;
  /** Open values that may still contain a match, and how many levels deeper than these the reader is. */
  #frames: Frame[] = [];
  #deeper = 0;
  /** Node of the path tree for the next value; undefined where the value cannot match. */
  #next: Node | undefined = this.#root;
  #expectsName = false;
  /** The reader is inside a text: its bytes so far are kept where it may match. */
  #isInText = false;
  #isName = false;
  #text: Buffer[] | undefined = undefined;
  #textBytes = 0;
  #isLong = false;
  #endsWithEscape = false;
  #number = '';

  /** Picks texts, leaving out long ones or picking them as empty; or numbers, as they are written. */
  constructor(
    paths: readonly string[],
    what: 'no long ones' | 'long ones without their text' | 'numbers' = 'no long ones',
  ) {
    this.#picksLong = what === 'long ones without their text';
    this.#picksNumbers = what === 'numbers';
    for (const path of paths) {
      let node = this.#root;
      for (const name of path.split('.')) node = name === '*' ? anyOf(node) : namedIn(node, name);
      node.path = path;
    }
  }

  reset(): void {
    this.#frames = [];
    this.#deeper = 0;
    this.#next = this.#root;
    this.#expectsName = false;
    this.#isInText = false;
    this.#endsWithEscape = false;
    this.#text = undefined;
    this.#number = '';
  }

  /** Reads a piece, and adds the values that end in `bytes[start, end)`. */
  push(bytes: Buffer, picked: Picked[], start = 0, end = bytes.length): void {
    let at = start;
    while (at < end) {
      if (this.#isInText) {
        at = this.#readText(bytes, at, end, picked);
        continue;
      }
      if (this.#picksNumbers) this.#readNumber(bytes[at] ?? 0, picked);
      switch (bytes[at]) {
        case QUOTE:
          this.#beginText();
          break;
        case OPEN_BRACE:
          this.#open(true);
          break;
        case OPEN_BRACKET:
          this.#open(false);
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#close();
          break;
        case COLON:
          this.#expectsName = false;
          break;
        case COMMA:
          this.#step();
          break;
      }
      at += 1;
    }
  }

  #open(isObject: boolean): void {
    if (this.#deeper > 0 || this.#next === undefined) {
      this.#deeper += 1;
      return;
    }
    this.#frames.push({ isObject, node: this.#next });
    this.#step();
  }

  #close(): void {
    if (this.#deeper > 0) {
      this.#deeper -= 1;
      return;
    }
    this.#frames.pop();
    this.#next = undefined;
    this.#expectsName = false;
  }

  #step(): void {
    if (this.#deeper > 0) return;
    const frame = this.#frames.at(-1);
    this.#expectsName = frame?.isObject === true;
    this.#next = frame?.isObject === false ? frame.node.any : undefined;
  }

  #readNumber(byte: number, picked: Picked[]): void {
    const path = this.#deeper > 0 ? undefined : this.#next?.path;
    if (path !== undefined && isOfNumber(byte)) {
      if (this.#number.length <= longestNumber) this.#number += String.fromCharCode(byte);
      return;
    }
    if (path !== undefined && this.#number !== '') picked.push({ path, text: this.#number });
    this.#number = '';
  }

  #beginText(): void {
    this.#isInText = true;
    this.#isName = this.#expectsName && this.#deeper === 0;
    const isWanted = this.#deeper === 0 && (this.#isName || this.#next?.path !== undefined);
    this.#text = isWanted ? [] : undefined;
    this.#textBytes = 0;
    this.#isLong = false;
  }

  /** Reads a text, or the part of it in this piece; returns where to continue. */
  #readText(bytes: Buffer, start: number, end: number, picked: Picked[]): number {
    let from = start;
    for (;;) {
      const quote = bytes.indexOf(QUOTE, from);
      if (quote === -1 || quote >= end) {
        this.#endsWithEscape = this.#endsEscaping(bytes, start, end);
        this.#keep(bytes, start, end);
        return end;
      }
      if (this.#endsEscaping(bytes, start, quote)) {
        from = quote + 1;
        continue;
      }
      this.#endsWithEscape = false;
      this.#keep(bytes, start, quote);
      this.#endText(picked);
      return quote + 1;
    }
  }

  /** Whether the byte at `end` is escaped: an odd number of backslashes before it, the first of which may be in an earlier piece. */
  #endsEscaping(bytes: Buffer, start: number, end: number): boolean {
    let first = end;
    while (first > start && bytes[first - 1] === BACKSLASH) first -= 1;
    const isOdd = (end - first) % 2 === 1;
    return first === start && this.#endsWithEscape ? !isOdd : isOdd;
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    if (this.#text === undefined) return;
    this.#textBytes += end - start;
    if (this.#textBytes > longestBytes) {
      this.#text = undefined;
      this.#isLong = this.#picksLong && !this.#isName;
    } else this.#text.push(bytes.subarray(start, end));
  }

  #endText(picked: Picked[]): void {
    this.#isInText = false;
    const parts = this.#text;
    this.#text = undefined;
    const whole = parts === undefined ? undefined : decoded(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    const text = this.#isLong ? '' : whole;
    if (this.#isName) {
      this.#next = text === undefined ? undefined : this.#frames.at(-1)?.node.names.get(text);
      return;
    }
    const path = this.#next?.path;
    if (text !== undefined && path !== undefined && !this.#picksNumbers) picked.push({ path, text });
  }
}

function anyOf(node: Node): Node {
  node.any ??= newNode();
  return node.any;
}

function namedIn(node: Node, name: string): Node {
  const known = node.names.get(name) ?? newNode();
  node.names.set(name, known);
  return known;
}

function decoded(raw: Buffer | undefined): string | undefined {
  if (raw === undefined) return '';
  const text = raw.toString('utf8');
  if (!text.includes('\\')) return text;
  const plain = readJson(`"${text}"`);
  return typeof plain === 'string' ? plain : undefined;
}
