/** Parses multipart/form-data (RFC 7578) as it arrives, without keeping it; ambiguous input is refused. */

import { Buffer } from 'node:buffer';
import { type PartHead, readPartHead } from './part-head.ts';

/** Receives the parts in the order of the bytes. How a body is cut into pieces changes only the pieces of data. */
export interface MultipartSink {
  /** A part begins; `at`: offset of its content. */
  onPart(head: PartHead, at: number): void;
  onData(piece: Buffer): void;
  /** A part ends; `at`: offset of the end of its content. */
  onPartEnd(at: number): void;
}

export interface MultipartLimits {
  readonly parts: number;
  readonly headBytes: number;
  readonly nameBytes: number;
}

export interface MultipartFault {
  /** The fault as a clause: "a part has no name". */
  readonly what: string;
  readonly at: number;
}

const CR = 0x0d;
const LF = 0x0a;
const lineEnd = Buffer.from('\r\n');
const headEnd = Buffer.from('\r\n\r\n');
const close = Buffer.from('--');
/** `form-data-encoder`, which `openai` 4 for Node uses, sends two line ends after the last boundary; others send one or none. */
const longestEpilogue = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);

type State = 'beginning' | 'behind a mark' | 'head' | 'content' | 'end';

export class MultipartReader {
  readonly #sink: MultipartSink;
  readonly #limits: MultipartLimits;
  /** Two hyphens and the boundary, with which the line that ends a part begins. */
  readonly #mark: Buffer;
  /** All texts that a lenient reader might take for the beginning of a boundary line. */
  readonly #beginnings: readonly Buffer[];
  #state: State = 'beginning';
  #uninterpreted: Buffer = nothing;
  #interpretedBytes = 0;
  #parts = 0;
  #beginsAt = 0;
  #hasNoContentYet = false;
  #fault: MultipartFault | undefined = undefined;

  constructor(boundary: string, sink: MultipartSink, limits: MultipartLimits) {
    this.#sink = sink;
    this.#limits = limits;
    this.#mark = Buffer.from(`--${boundary}`, 'latin1');
    this.#beginnings = ['\r\n', '\r', '\n'].map((before) => Buffer.from(`${before}--${boundary}`, 'latin1'));
  }

  get beginsAt(): number {
    return this.#beginsAt;
  }

  /** Reads a piece; returns the fault where there is one, and always after it. */
  push(piece: Buffer): MultipartFault | undefined {
    let rest = this.#uninterpreted.length === 0 ? piece : Buffer.concat([this.#uninterpreted, piece]);
    this.#uninterpreted = nothing;
    while (rest.length > 0 && this.#fault === undefined) {
      const used = this.#read(rest);
      if (used === 0) break;
      this.#interpretedBytes += used;
      rest = rest.subarray(used);
    }
    this.#uninterpreted = rest;
    return this.#fault;
  }

  end(): MultipartFault | undefined {
    const isWhole = this.#state === 'end' && this.#uninterpreted.length % lineEnd.length === 0;
    if (!isWhole && this.#fault === undefined)
      this.#stop('it ends before its last boundary', this.#uninterpreted.length);
    return this.#fault;
  }

  /** Reads what it can; returns how many bytes were consumed: 0 where more must arrive first, or after a fault. */
  #read(bytes: Buffer): number {
    switch (this.#state) {
      case 'beginning':
        return this.#readBeginning(bytes);
      case 'behind a mark':
        return this.#readBehindMark(bytes);
      case 'head':
        return this.#readHead(bytes);
      case 'content':
        return this.#readContent(bytes);
      case 'end':
        return this.#readEnd(bytes);
    }
  }

  #readBeginning(bytes: Buffer): number {
    const [afterLineEnd = nothing] = this.#beginnings;
    for (const start of [this.#mark, afterLineEnd]) {
      if (begins(bytes, start)) {
        this.#state = 'behind a mark';
        this.#beginsAt = start.length - this.#mark.length;
        return start.length;
      }
      if (begins(start, bytes)) return 0;
    }
    return this.#stop('it does not begin with its boundary');
  }

  #readBehindMark(bytes: Buffer): number {
    if (bytes.length < lineEnd.length) return 0;
    if (begins(bytes, close)) {
      this.#state = 'end';
      return close.length;
    }
    if (!begins(bytes, lineEnd)) return this.#stop('a boundary has more behind it on its line');
    this.#parts += 1;
    if (this.#parts > this.#limits.parts) return this.#stop(`it has more than ${this.#limits.parts} parts`);
    this.#state = 'head';
    return lineEnd.length;
  }

  #readHead(bytes: Buffer): number {
    const { headBytes, nameBytes } = this.#limits;
    const length = bytes.subarray(0, headBytes + headEnd.length).indexOf(headEnd);
    if (length === -1) {
      return bytes.length < headBytes + headEnd.length
        ? 0
        : this.#stop(`the head of a part is longer than ${headBytes} bytes`);
    }
    const head = readPartHead(bytes.subarray(0, length), nameBytes);
    if (typeof head === 'string') return this.#stop(head);
    const used = length + headEnd.length;
    this.#state = 'content';
    this.#hasNoContentYet = true;
    this.#sink.onPart(head, this.#interpretedBytes + used);
    return used;
  }

  #readContent(bytes: Buffer): number {
    for (let at = bytes.indexOf(this.#mark); at !== -1; at = bytes.indexOf(this.#mark, at + 1)) {
      if (at >= 2 && bytes[at - 2] === CR && bytes[at - 1] === LF) return this.#endContent(bytes, at);
      // A reader that accepts a lone CR or LF, or the head's line end for the content's, would see a boundary here.
      if (at === 0 ? this.#hasNoContentYet : isLineEnd(bytes[at - 1])) {
        this.#emit(bytes.subarray(0, Math.max(at - 1, 0)));
        return this.#stop('its boundary stands at the beginning of a line that CRLF does not end before it', at);
      }
    }
    const used = this.#possibleMark(bytes);
    this.#emit(bytes.subarray(0, used));
    return used;
  }

  #endContent(bytes: Buffer, markAt: number): number {
    const length = markAt - lineEnd.length;
    this.#emit(bytes.subarray(0, length));
    this.#sink.onPartEnd(this.#interpretedBytes + length);
    this.#state = 'behind a mark';
    return markAt + this.#mark.length;
  }

  /** Offset near the end of some content at which a boundary may begin. */
  #possibleMark(bytes: Buffer): number {
    if (this.#hasNoContentYet && begins(this.#mark, bytes)) return 0;
    for (let at = Math.max(bytes.length - this.#mark.length - 1, 0); at < bytes.length; at += 1) {
      if (!isLineEnd(bytes[at])) continue;
      const rest = bytes.subarray(at);
      if (this.#beginnings.some((beginning) => begins(beginning, rest))) return at;
    }
    return bytes.length;
  }

  #emit(data: Buffer): void {
    if (data.length === 0) return;
    this.#hasNoContentYet = false;
    this.#sink.onData(data);
  }

  #readEnd(bytes: Buffer): 0 {
    return begins(longestEpilogue, bytes) ? 0 : this.#stop('it goes on behind its last boundary');
  }

  #stop(what: string, offset = 0): 0 {
    this.#fault = { what, at: this.#interpretedBytes + offset };
    return 0;
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === CR || byte === LF;

const begins = (bytes: Buffer, beginning: Buffer): boolean =>
  bytes.length >= beginning.length && bytes.compare(beginning, 0, beginning.length, 0, beginning.length) === 0;
