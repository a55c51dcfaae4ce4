/**
 * Reads what most configuration files are written in: JSON, and YAML of mappings, lists and values of one line each. A text with
 * anything else in it, or with a fault, is not for here: who reads all of YAML reads it then, and finds the same in what is read here.
 */

import { type Columns, ColumnWriter } from './columns.ts';
import { endOf, findKey, type Reading, readFlow, readInline, Unusual, writeKey } from './plain-values.ts';

/** Deeper than this, or more than this, is a fault. */
export interface SourceBounds {
  readonly deepest: number;
  readonly mostValues: number;
}

/** What nobody sees, or takes for something else; and ends of lines of other systems. */
const unseen = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff]/;

/** Undefined where the text is not for here. */
export function readPlain(text: string, { deepest, mostValues }: SourceBounds): Columns | undefined {
  if (unseen.test(text)) return undefined;
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  const writer = new ColumnWriter();
  try {
    if (/^\s*[{[]/.test(text)) readJson({ text, writer, deepest });
    else new BlockReader({ text, writer, deepest }).read();
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
  /** Where the next thing stands, and how far from the beginning of its line. */
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
    if (this.#reading.writer.depth >= this.#reading.deepest) throw new Unusual();
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

  /** What a key of that indent has. */
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

  /** Goes to what comes next where nothing more stands in the line. */
  #endLine(): boolean {
    const end = endOf(restOfLine, this.#text, this.#at);
    if (end === undefined) return false;
    this.#goToLine(end + 1);
    return true;
  }

  /** To what stands in the line that begins there, or in the first one after it that says anything. */
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
