/** Reads the fields of a message as positions in its head: names are compared in place, and texts are made on demand. */

import { Buffer } from 'node:buffer';
import { colon, cr, inToken, inValue, lf, space, tab } from './characters.ts';
import { malformed, tooLarge, type WireFault } from './fault.ts';

export interface FieldLimits {
  readonly fields: number;
  /** Limit of one name with its value. */
  readonly fieldBytes: number;
}

/** Numbers stored per field: where its name begins and ends, and where its value begins and ends. */
const numbersAField = 4;

/** The names of the last heads, by their position. */
const recentNames: string[] = [];
const mostRecent = 32;
const longestRecent = 64;

export class Fields {
  /** The head, one character per byte. */
  readonly #text: string;
  readonly #spans: readonly number[];
  #list: readonly string[] | undefined = undefined;
  /** Values by names in lower case, for a head that is received again and again. */
  #byName: ReadonlyMap<string, string> | undefined = undefined;
  /** What a reader has computed from the fields; kept with a cached head, so that the next request with the same head has it too. */
  made: unknown = undefined;
  /** What the edge (the first checks of a request) has read from the fields. */
  facts: unknown = undefined;
  passedOn: string | undefined = undefined;

  constructor(text: string, spans: readonly number[]) {
    this.#text = text;
    this.#spans = spans;
  }

  get count(): number {
    return this.#spans.length / numbersAField;
  }

  /** The field's value; the values of several fields of this name are joined as a list. `name` in lower case. */
  get(name: string): string | undefined {
    if (this.#byName !== undefined) return this.#byName.get(name);
    let value: string | undefined;
    for (let at = 0; at < this.#spans.length; at += numbersAField) {
      if (!this.#isNamed(at, name)) continue;
      const next = this.#text.slice(this.#spans[at + 2], this.#spans[at + 3]);
      value = value === undefined ? next : `${value}, ${next}`;
    }
    return value;
  }

  has(name: string): boolean {
    if (this.#byName !== undefined) return this.#byName.has(name);
    for (let at = 0; at < this.#spans.length; at += numbersAField) {
      if (this.#isNamed(at, name)) return true;
    }
    return false;
  }

  /** Builds an index of values by name; worth it if the same fields are read more than once. */
  index(): void {
    if (this.#byName !== undefined) return;
    const byName = new Map<string, string>();
    for (let i = 0; i < this.count; i += 1) {
      const at = i * numbersAField;
      const name = this.#text.slice(this.#spans[at], this.#spans[at + 1]).toLowerCase();
      const value = this.value(i);
      const known = byName.get(name);
      byName.set(name, known === undefined ? value : `${known}, ${value}`);
    }
    this.#byName = byName;
  }

  /** Where the field's value is in the head; if there are several such fields, that of the first. */
  spanOf(name: string): { readonly start: number; readonly end: number } | undefined {
    for (let at = 0; at < this.#spans.length; at += numbersAField) {
      if (this.#isNamed(at, name)) return { start: this.#spans[at + 2] ?? 0, end: this.#spans[at + 3] ?? 0 };
    }
    return undefined;
  }

  /** Length of a field's name, which is enough to distinguish most names. */
  nameLength(index: number): number {
    const at = index * numbersAField;
    return (this.#spans[at + 1] ?? 0) - (this.#spans[at] ?? 0);
  }

  isNamed(index: number, name: string): boolean {
    return this.#isNamed(index * numbersAField, name);
  }

  value(index: number): string {
    const at = index * numbersAField;
    return this.#text.slice(this.#spans[at + 2], this.#spans[at + 3]);
  }

  /** Whether a tab follows the value: white space by the grammar, but some readers take it for a part of the value. */
  hasTabBehind(index: number): boolean {
    let at = this.#spans[index * numbersAField + 3] ?? 0;
    while (this.#text.charCodeAt(at) === space) at += 1;
    return this.#text.charCodeAt(at) === tab;
  }

  /** Names and values alternately, as received. */
  get list(): readonly string[] {
    this.#list ??= this.#toList();
    return this.#list;
  }

  #toList(): string[] {
    const list: string[] = [];
    const spans = this.#spans;
    for (let at = 0; at < spans.length; at += numbersAField) {
      list.push(this.#nameAt(at), this.#text.slice(spans[at + 2], spans[at + 3]));
    }
    return list;
  }

  /** The name of a field. Most heads have the same names in the same order; comparing with a known text is faster than making one. */
  #nameAt(at: number): string {
    const start = this.#spans[at] ?? 0;
    const end = this.#spans[at + 1] ?? 0;
    const recent = recentNames[at / numbersAField];
    if (recent !== undefined && recent.length === end - start && this.#text.startsWith(recent, start)) return recent;
    const name = this.#text.slice(start, end);
    // The text is copied: a substring would keep the whole head in memory.
    if (at < mostRecent * numbersAField && name.length <= longestRecent)
      recentNames[at / numbersAField] = Buffer.from(name, 'latin1').toString('latin1');
    return name;
  }

  #isNamed(at: number, name: string): boolean {
    const start = this.#spans[at] ?? 0;
    return (this.#spans[at + 1] ?? 0) - start === name.length && isSame(this.#text, start, name);
  }
}

export const noFields = new Fields('', []);

/** Whether the text has this name at `start`; `name` in lower case. */
function isSame(text: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i += 1) {
    const code = text.charCodeAt(start + i);
    const lower = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
    if (lower !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** Reads the lines from `start` to `end` and notes the positions of their parts; refuses what is ambiguous. Bytes are faster than characters. */
export function readFields(
  bytes: Buffer,
  start: number,
  end: number,
  { fields, fieldBytes }: FieldLimits,
  spans: number[],
): WireFault | undefined {
  let at = start;
  while (at < end) {
    const nameStart = at;
    while (inToken[byteAt(bytes, at)] === 1) at += 1;
    const nameEnd = at;
    if (byteAt(bytes, at) !== colon || nameEnd === nameStart) return nameFault(bytes, nameStart, nameEnd);
    at += 1;
    while (isBlank(byteAt(bytes, at))) at += 1;
    const valueStart = at;
    while (inValue[byteAt(bytes, at)] === 1) at += 1;
    if (byteAt(bytes, at) !== cr || byteAt(bytes, at + 1) !== lf) return valueFault(bytes, nameStart, nameEnd, at);
    let valueEnd = at;
    while (valueEnd > valueStart && isBlank(byteAt(bytes, valueEnd - 1))) valueEnd -= 1;
    at += 2;
    if (at - 2 - nameStart > fieldBytes) {
      const name = shown(bytes, nameStart, nameEnd);
      return tooLarge(`The header ${name} is longer than ${fieldBytes} bytes; send less in it.`, name);
    }
    spans.push(nameStart, nameEnd, valueStart, valueEnd);
    if (spans.length > fields * numbersAField) {
      return tooLarge(`There are more than ${fields} headers; send fewer.`);
    }
  }
  return undefined;
}

/** The elements of a list with commas, without the blanks around them; other white space that JavaScript would trim stays. */
export function listedTokens(value: string): string[] {
  return value.split(',').map((part) => part.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, ''));
}

const byteAt = (bytes: Buffer, at: number): number => bytes[at] ?? 0;

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

function nameFault(bytes: Buffer, start: number, end: number): WireFault {
  const next = byteAt(bytes, end);
  if (isBlank(next)) {
    const name = shown(bytes, start, end);
    return end === start
      ? malformed('A header goes on in a second line, which HTTP no longer allows; send it in one.')
      : malformed(`A blank stands before the colon of the header ${name}; leave it out.`, name);
  }
  if (end === start && next === colon) return malformed('A header has no name before its colon.');
  return malformed('A header name holds a character that is not allowed there, or no colon follows it.');
}

function valueFault(bytes: Buffer, nameStart: number, nameEnd: number, at: number): WireFault {
  const code = byteAt(bytes, at);
  const what = code === cr || code === lf ? 'a CR or an LF that is no line end' : 'a control character';
  const name = shown(bytes, nameStart, nameEnd);
  return malformed(`The header ${name} holds ${what}; lines end with CR LF.`, name);
}

/** A name for messages, shortened; a name is plain ASCII. */
function shown(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, Math.min(end, start + 60));
}
