/** Finds list elements and object members in the bytes of a JSON body that was validated before, without parsing it. */

import type { Buffer } from 'node:buffer';
import { BACKSLASH, COLON, COMMA, QUOTE, SPACE } from './json-tokens.ts';

export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

const isOpening = (byte: number): boolean => byte === 0x5b || byte === 0x7b;
const isClosing = (byte: number): boolean => byte === 0x5d || byte === 0x7d;

export function* elementsOf(body: Buffer, { start, end }: JsonSpan): Generator<JsonSpan, void, undefined> {
  let from = start + 1;
  let depth = 0;
  for (let at = from; at < end; at += 1) {
    const byte = body[at] ?? 0;
    if (byte === QUOTE) at = endOfText(body, at + 1);
    else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte) && depth > 0) depth -= 1;
    else if (depth === 0 && (byte === COMMA || isClosing(byte))) {
      const span = trimmed(body, from, at);
      if (span.start < span.end) yield span;
      from = at + 1;
    }
  }
}

export interface JsonMember extends JsonSpan {
  /** The member's name, with escapes decoded. */
  readonly name: string;
}

/** Yields the values of an object with their names, duplicates included. */
export function* membersOf(body: Buffer, object: JsonSpan): Generator<JsonMember, void, undefined> {
  for (const { start, end } of elementsOf(body, object)) {
    const nameEnd = endOfText(body, start + 1) + 1;
    const name: unknown = JSON.parse(body.toString('utf8', start, nameEnd));
    let at = nameEnd;
    while (body[at] !== COLON) at += 1;
    yield { name: String(name), ...trimmed(body, at + 1, end) };
  }
}

function trimmed(body: Buffer, from: number, to: number): JsonSpan {
  let start = from;
  let end = to;
  while (start < end && (body[start] ?? 0) <= SPACE) start += 1;
  while (end > start && (body[end - 1] ?? 0) <= SPACE) end -= 1;
  return { start, end };
}

/** Offset of the quote that ends the text whose content begins at `at`; the end of the body where it is missing. */
export function endOfText(body: Buffer, at: number): number {
  for (let quote = body.indexOf(QUOTE, at); quote !== -1; quote = body.indexOf(QUOTE, quote + 1)) {
    let first = quote;
    while (first > at && body[first - 1] === BACKSLASH) first -= 1;
    if ((quote - first) % 2 === 0) return quote;
  }
  return body.length;
}
