/** Parses server-sent events from chunks of bytes. */

import { Buffer, isUtf8 } from 'node:buffer';
import { COLON, LINE_FEED, RETURN } from './json/json-tokens.ts';

export interface StreamEvent {
  readonly name: string;
  /** The event's lines of data, joined; never empty. */
  readonly data: string;
}

export class EventStreamError extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'EventStreamError';
  }
}

const longestEventBytes = 4 * 1024 * 1024;

const byteOrderMark = Buffer.from('\ufeff');

export class EventStream {
  readonly #limitBytes: number;
  #incompleteLine: Buffer[] = [];
  #incompleteLineBytes = 0;
  #dataBytes = 0;
  #data: string[] = [];
  #name = '';
  /** The last line ended with a carriage return: a line feed directly after it belongs to it. */
  #isAfterReturn = false;
  #isFirstLine = true;

  constructor(limitBytes = longestEventBytes) {
    this.#limitBytes = limitBytes;
  }

  /** Yields the events that the chunk completes. Throws an `EventStreamError` at the first invalid one. */
  *push(chunk: Buffer): Generator<StreamEvent, void, void> {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte !== LINE_FEED && byte !== RETURN) continue;
      const isSecondHalf = byte === LINE_FEED && this.#isAfterReturn && at === start && this.#incompleteLineBytes === 0;
      const from = start;
      start = at + 1;
      this.#isAfterReturn = byte === RETURN;
      if (isSecondHalf) continue;
      const event = this.#line(this.#wholeLine(chunk.subarray(from, at)));
      if (event !== undefined) yield event;
    }
    if (start < chunk.length) {
      this.#isAfterReturn = false;
      this.#keep(chunk.subarray(start));
    }
  }

  /** Yields the event completed by the end of the stream, as some services omit the last empty line. */
  *end(): Generator<StreamEvent, void, void> {
    const last = this.#line(this.#wholeLine(Buffer.alloc(0))) ?? this.#dispatch();
    if (last !== undefined) yield last;
  }

  #keep(bytes: Buffer): void {
    this.#incompleteLine.push(bytes);
    this.#incompleteLineBytes += bytes.length;
    this.#checkLength();
  }

  #checkLength(): void {
    if (this.#incompleteLineBytes + this.#dataBytes > this.#limitBytes)
      throw new EventStreamError('an event is too long');
  }

  #wholeLine(end: Buffer): Buffer {
    let line = end;
    if (this.#incompleteLineBytes > 0) {
      this.#keep(end);
      line = Buffer.concat(this.#incompleteLine);
      this.#incompleteLine = [];
      this.#incompleteLineBytes = 0;
    }
    if (!this.#isFirstLine) return line;
    this.#isFirstLine = false;
    const { length } = byteOrderMark;
    return line.subarray(0, length).equals(byteOrderMark) ? line.subarray(length) : line;
  }

  #line(line: Buffer): StreamEvent | undefined {
    if (line.length === 0) return this.#dispatch();
    const [first] = line;
    if (first === COLON) return undefined;
    if (!isUtf8(line)) throw new EventStreamError('a line is ill-formed UTF-8');
    const text = line.toString('utf8');
    const colon = text.indexOf(':');
    const field = colon === -1 ? text : text.slice(0, colon);
    const value = colon === -1 ? '' : text.slice(colon + (text[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') this.#name = value;
    if (field !== 'data') return undefined;
    this.#data.push(value);
    this.#dataBytes += line.length;
    this.#checkLength();
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const event = { name: this.#name, data: this.#data.join('\n') };
    this.#name = '';
    this.#data = [];
    this.#dataBytes = 0;
    return event.data === '' ? undefined : event;
  }
}
