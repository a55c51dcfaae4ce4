/** Values of one line, and JSON, as YAML reads them: quoted, plain, or between brackets. What is not read here throws `Unusual`. */

import type { ColumnWriter, Scalar } from './columns.ts';

/** The text holds something that is not read here, or a fault. */
export class Unusual extends Error {}

export interface Reading {
  readonly text: string;
  readonly writer: ColumnWriter;
  readonly deepest: number;
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
/** By which numbers, truth values and nothing begin: all other text is text. */
const mayBeMore = /^[-+.0-9~ntf]/i;
const longestKey = 1000;

/** Where the match ends; undefined where there is none. */
export function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function endOrThrow(pattern: RegExp, text: string, at: number): number {
  const end = endOf(pattern, text, at);
  if (end === undefined) throw new Unusual();
  return end;
}

/** As what text without quotes is read. */
function toScalar(text: string): Scalar {
  if (!mayBeMore.test(text)) return text;
  if (number.test(text)) return Number(text);
  if (unusualNumber.test(text)) throw new Unusual();
  switch (text) {
    case '~':
    case 'null':
    case 'Null':
    case 'NULL':
      return null;
    case 'true':
    case 'True':
    case 'TRUE':
      return true;
    case 'false':
    case 'False':
    case 'FALSE':
      return false;
    default:
      return text;
  }
}

const isQuote = (character: string | undefined): boolean => character === '"' || character === "'";

/** The text between quotes that begin there, and where they end. */
function readQuoted(text: string, at: number): { readonly value: string; readonly end: number } {
  const isSingle = text[at] === "'";
  const end = endOrThrow(isSingle ? singleQuoted : doubleQuoted, text, at);
  const inner = text.slice(at + 1, end - 1);
  if (isSingle) return { value: inner.replaceAll("''", "'"), end };
  return { value: inner.includes('\\') ? unescaped(text.slice(at, end)) : inner, end };
}

/** Escapes that JSON has mean the same in YAML. */
function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw new Unusual();
  }
}

/** Writes what stands there, which ends in the same line; says where. */
export function readInline(reading: Reading, at: number): number {
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

/** Writes the list or the mapping whose bracket stands there; says where it ends. */
export function readFlow(reading: Reading, at: number, within: keyof typeof gaps): number {
  const { text, writer, deepest } = reading;
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

/** Where the key of a line ends that begins there, its colon included; undefined where none does. */
export function findKey(text: string, at: number): { readonly name: string; readonly end: number } | undefined {
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

/** One that stands twice, and one that copies of mappings lose, are faults. */
export function writeKey(writer: ColumnWriter, name: string, at: number): void {
  if (name === '__proto__' || !writer.key(name, at)) throw new Unusual();
}
