/** Parses common configuration files fast: JSON and simple YAML. Any other text is left to the complete YAML parser. */

import { type Columns, ColumnWriter, type Scalar } from './columns.ts';

class Unusual extends Error {}

interface Reading {
  readonly text: string;
  readonly writer: ColumnWriter;
}

const doubleQuoted = /"(?:[^"\\\n]|\\.)*"/y;
const singleQuoted = /'(?:[^'\n]|'')*'/y;
const first = '(?:[^\\s,[\\]{}&*!|>\'"%@`#?:-]|-(?=[^\\s,[\\]{}]))';
const plainInBlock = new RegExp(`${first}(?:[^\\s:#]|:(?=\\S)|(?<=\\S)#| +(?=[^\\s:#]))*`, 'y');
const plainInFlow = new RegExp(`${first}(?:[^\\s,[\\]{}:#]|:(?=[^\\s,[\\]{}])|(?<=\\S)#| +(?=[^\\s,[\\]{}:#]))*`, 'y');
const afterKey = / *:/y;
const gaps = { line: / */y, lines: /[ \t\n]*/y };

const number = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const unusualNumber = /^(?:0[ox]|[-+]?\.(?:inf|nan)$)/i;
/** First characters of values that may be a number, a boolean or null; any other unquoted value is text. */
const mayBeMore = /^[-+.0-9~ntf]/i;
const longestKey = 1000;

/** Limits of a text: more depth or more values are a fault. Values of expanded aliases count, so that a few lines cannot become millions. */
export const deepest = 32;
export const mostValues = 200_000;

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function endOrThrow(pattern: RegExp, text: string, at: number): number {
  const end = endOf(pattern, text, at);
  if (end === undefined) throw new Unusual();
  return end;
}

/** Unquoted words that mean a boolean or null, in YAML's spellings. */
const words = new Map<string, Scalar>(
  ([null, true, false] as const).flatMap((value) => {
    const word = String(value);
    return [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()].map((one) => [one, value]);
  }),
).set('~', null);

function toScalar(text: string): Scalar {
  if (!mayBeMore.test(text)) return text;
  if (number.test(text)) return Number(text);
  if (unusualNumber.test(text)) throw new Unusual();
  const word = words.get(text);
  return word === undefined ? text : word;
}

const isQuote = (character: string | undefined): boolean => character === '"' || character === "'";

function readQuoted(text: string, at: number): { readonly value: string; readonly end: number } {
  const isSingle = text[at] === "'";
  const end = endOrThrow(isSingle ? singleQuoted : doubleQuoted, text, at);
  const inner = text.slice(at + 1, end - 1);
  if (isSingle) return { value: inner.replaceAll("''", "'"), end };
  return { value: inner.includes('\\') ? unescaped(text.slice(at, end)) : inner, end };
}

/** A quoted text without its escapes; those of JSON mean the same in YAML. */
function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw new Unusual();
  }
}

function readInline(reading: Reading, at: number): number {
  const { text, writer } = reading;
  if (text[at] === '[' || text[at] === '{') return readFlow(reading, at, 'line');
  return readAtom(text, at, plainInBlock, writer);
}

function readAtom(text: string, at: number, plain: RegExp, writer: ColumnWriter): number {
  if (isQuote(text[at])) {
    const { value, end } = readQuoted(text, at);
    writer.scalar(value, at);
    return end;
  }
  const end = endOrThrow(plain, text, at);
  writer.scalar(toScalar(text.slice(at, end)), at);
  return end;
}

/** Reads a YAML list or mapping in brackets and passes it to the writer; returns where it ends in the source. */
function readFlow(reading: Reading, at: number, within: keyof typeof gaps): number {
  const { text, writer } = reading;
  const skip = (from: number): number => endOf(gaps[within], text, from) ?? from;
  const isList = text[at] === '[';
  const closing = isList ? ']' : '}';
  if (writer.depth >= deepest) throw new Unusual();
  if (isList) writer.list(at);
  else writer.mapping(at);
  let next = skip(at + 1);
  if (text[next] !== closing) {
    for (;;) {
      if (!isList) next = skip(readFlowKey(reading, next));
      const opens = text[next] === '[' || text[next] === '{';
      next = skip(opens ? readFlow(reading, next, within) : readAtom(text, next, plainInFlow, writer));
      if (text[next] === closing) break;
      if (text[next] !== ',') throw new Unusual();
      next = skip(next + 1);
    }
  }
  writer.close();
  return next + 1;
}

function readFlowKey({ text, writer }: Reading, at: number): number {
  const isQuoted = isQuote(text[at]);
  const plainEnd = isQuoted ? at : endOrThrow(plainInFlow, text, at);
  const { value, end } = isQuoted ? readQuoted(text, at) : { value: toScalar(text.slice(at, plainEnd)), end: plainEnd };
  if (typeof value !== 'string' || end - at > longestKey) throw new Unusual();
  if (!isQuoted && !/^:[ \n]$/.test(text.slice(end, end + 2))) throw new Unusual();
  writeKey(writer, value, at);
  return endOrThrow(afterKey, text, end);
}

const plainKey = /[A-Za-z_][\w./-]*(?=:(?: |\n|$))/y;
const endsKey = /:(?= |\n|$)/y;

function findKey(text: string, at: number): { readonly name: string; readonly end: number } | undefined {
  if (isQuote(text[at])) {
    const { value, end } = readQuoted(text, at);
    const colon = endOf(endsKey, text, end);
    return colon === undefined || end - at > longestKey ? undefined : { name: value, end: colon };
  }
  const end = endOf(plainKey, text, at);
  if (end === undefined || end - at > longestKey) return undefined;
  const name = toScalar(text.slice(at, end));
  return typeof name === 'string' ? { name, end: end + 1 } : undefined;
}

/** Writes a key. A duplicate is a fault, and so is `__proto__`, which copies of mappings would lose. */
function writeKey(writer: ColumnWriter, name: string, at: number): void {
  if (name === '__proto__' || !writer.key(name, at)) throw new Unusual();
}

/** Characters that are invisible or easily confused, and line ends of other systems. */
const unseen = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff]/;

/** The parsed text; undefined where it needs the complete parser. */
export function readPlain(text: string): Columns | undefined {
  if (unseen.test(text)) return undefined;
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  const writer = new ColumnWriter();
  try {
    if (/^\s*[{[]/.test(text)) readJson({ text, writer });
    else new BlockReader({ text, writer }).read();
  } catch (error) {
    if (error instanceof Unusual) return undefined;
    throw error;
  }
  return writer.size > mostValues ? undefined : writer.finish(lineStarts);
}

function readJson(reading: Reading): void {
  const end = readFlow(reading, reading.text.search(/\S/), 'lines');
  if (/\S/.test(reading.text.slice(end))) throw new Unusual();
}

const itemMark = /-(?: +|(?=\n|$))/y;
const restOfLine = /(?: +#[^\n]*| *)(?=\n|$)/y;
const contentOfLine = / *(?=[^ #\n])/y;

class BlockReader {
  readonly #reading: Reading;
  readonly #text: string;
  /** The offset of the next value; below it, its indent. */
  #at = 0;
  #indent = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#text = reading.text;
  }

  read(): void {
    if (this.#text.includes('\t') || /^(?:---|\.\.\.|%)/m.test(this.#text)) throw new Unusual();
    this.#goToLine(0);
    this.#readBlock();
    if (!this.#isAtEnd) throw new Unusual();
  }

  get #isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  get #isAtItem(): boolean {
    return endOf(itemMark, this.#text, this.#at) !== undefined;
  }

  #readBlock(): void {
    if (this.#reading.writer.depth >= deepest) throw new Unusual();
    if (this.#isAtItem) this.#readList();
    else this.#readMapping();
  }

  #readMapping(): void {
    const { writer } = this.#reading;
    const indent = this.#indent;
    writer.mapping(this.#at);
    do {
      const key = this.#isAtItem ? undefined : findKey(this.#text, this.#at);
      if (key === undefined) throw new Unusual();
      writeKey(writer, key.name, this.#at);
      this.#at = key.end;
      this.#readMember(indent);
    } while (!this.#isAtEnd && this.#indent === indent);
    if (!this.#isAtEnd && this.#indent > indent) throw new Unusual();
    writer.close();
  }

  #readMember(indent: number): void {
    if (!this.#endLine()) {
      this.#readValue();
      return;
    }
    const isInside = this.#indent > indent || (this.#indent === indent && this.#isAtItem);
    if (!this.#isAtEnd && isInside) this.#readBlock();
    else this.#reading.writer.scalar(null, this.#at);
  }

  #readList(): void {
    const { writer } = this.#reading;
    const indent = this.#indent;
    writer.list(this.#at);
    do {
      this.#readItem(indent);
    } while (!this.#isAtEnd && this.#indent === indent && this.#isAtItem);
    if (!this.#isAtEnd && this.#indent > indent) throw new Unusual();
    writer.close();
  }

  #readItem(indent: number): void {
    const itemAt = this.#at;
    this.#at = endOf(itemMark, this.#text, itemAt) ?? itemAt;
    if (this.#text[this.#at] === '#') throw new Unusual();
    if (this.#endLine()) {
      if (this.#isAtEnd || this.#indent <= indent) throw new Unusual();
      this.#readBlock();
      return;
    }
    this.#indent = indent + this.#at - itemAt;
    if (this.#isAtItem || findKey(this.#text, this.#at) !== undefined) this.#readBlock();
    else this.#readValue();
  }

  #readValue(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
    this.#at = readInline(this.#reading, this.#at);
    if (!this.#endLine()) throw new Unusual();
  }

  #endLine(): boolean {
    const end = endOf(restOfLine, this.#text, this.#at);
    if (end === undefined) return false;
    this.#goToLine(end + 1);
    return true;
  }

  #goToLine(start: number): void {
    for (let line = start; line < this.#text.length; ) {
      const content = endOf(contentOfLine, this.#text, line);
      if (content !== undefined) {
        this.#at = content;
        this.#indent = content - line;
        return;
      }
      const end = this.#text.indexOf('\n', line);
      line = end === -1 ? this.#text.length : end + 1;
    }
    this.#at = this.#text.length;
    this.#indent = 0;
  }
}
