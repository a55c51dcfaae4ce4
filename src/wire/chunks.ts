/** Parses a chunked body: the data within the received segments, and the trailers. */

import { Buffer } from 'node:buffer';
import { cr, hexValues, inToken, inValue, lf, semicolon, space, tab } from './characters.ts';
import { malformed, tooLarge, type WireFault } from './fault.ts';
import { Fields, noFields, readFields } from './fields.ts';

/** Limit of a chunk size's hexadecimal digits; sixteen could be more than a number holds exactly. */
const mostDigits = 8;
/** Limit of the (ignored) chunk extensions of a body, in addition to as many bytes as its data has. */
const extensionBytes = 4 * 1024;
const trailerLimits = { fields: 50, fieldBytes: 8 * 1024 };
const trailerBytes = 16 * 1024;
/** Shorter pieces are copied together. */
const smallBytes = 4 * 1024;
/** Names that a trailer must not have, as they would change what the head said about the message. */
const neverTrailers = ['content-length', 'transfer-encoding'];

export interface BodySink {
  onBody(piece: Buffer): void;
}

type Phase = 'size' | 'extension' | 'size-lf' | 'data' | 'data-cr' | 'data-lf' | 'trailers' | 'over';

const nothing = Buffer.alloc(0);

export class ChunkReader {
  trailers: Fields = noFields;

  readonly #sink: BodySink;
  #phase: Phase = 'size';
  #size = 0;
  #digits = 0;
  #extensionBytes = 0;
  #extensionPart: ExtensionPart = 'semicolon';
  #held: Buffer = nothing;
  #pendingSmall: Buffer[] = [];

  constructor(sink: BodySink) {
    this.#sink = sink;
  }

  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /**
   * Reads on from `start`; returns where it stopped: at the end of the bytes, or after the body. Small chunks that arrive together are passed on
   * together, as each would cost a write of its own.
   */
  push(bytes: Buffer, start: number): number | WireFault {
    const stoppedAt = this.#read(bytes, start);
    this.#passSmall();
    return stoppedAt;
  }

  #read(bytes: Buffer, start: number): number | WireFault {
    let at = start;
    while (at < bytes.length) {
      switch (this.#phase) {
        case 'data': {
          const end = Math.min(bytes.length, at + this.#size);
          this.#size -= end - at;
          if (this.#size === 0) this.#phase = 'data-cr';
          this.#pass(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
          at = end;
          break;
        }
        case 'trailers': {
          const end = this.#readTrailers(bytes, at);
          if (typeof end === 'object' || this.isOver) return end;
          at = end;
          break;
        }
        case 'over':
          return at;
        default: {
          const fault = this.#readFrame(bytes[at] ?? 0);
          if (fault !== undefined) return fault;
          at += 1;
        }
      }
    }
    return at;
  }

  #pass(piece: Buffer): void {
    if (piece.length < smallBytes) {
      this.#pendingSmall.push(piece);
      return;
    }
    this.#passSmall();
    this.#sink.onBody(piece);
  }

  #passSmall(): void {
    const small = this.#pendingSmall;
    const [first] = small;
    if (first === undefined) return;
    this.#pendingSmall = [];
    this.#sink.onBody(small.length === 1 ? first : Buffer.concat(small));
  }

  #readFrame(code: number): WireFault | undefined {
    switch (this.#phase) {
      case 'size':
        return this.#readSize(code);
      case 'extension':
        return this.#readExtension(code);
      case 'size-lf':
        if (code !== lf) return malformed('The size of a chunk does not end with CR LF.');
        this.#phase = this.#size === 0 ? 'trailers' : 'data';
        this.#digits = 0;
        this.#extensionBytes = Math.max(0, this.#extensionBytes - this.#size);
        return undefined;
      case 'data-cr':
        if (code !== cr) return malformed('A chunk is longer than its size says.');
        this.#phase = 'data-lf';
        return undefined;
      default:
        if (code !== lf) return malformed('A chunk does not end with CR LF.');
        this.#phase = 'size';
        return undefined;
    }
  }

  #readSize(code: number): WireFault | undefined {
    const value = hexValues[code] ?? 255;
    if (value !== 255) {
      this.#digits += 1;
      if (this.#digits > mostDigits) return tooLarge(`The size of a chunk has more than ${mostDigits} digits.`);
      this.#size = this.#size * 16 + value;
      return undefined;
    }
    if (this.#digits === 0 || (code !== cr && code !== semicolon)) {
      return malformed('The size of a chunk must be a plain hexadecimal number.');
    }
    this.#phase = code === cr ? 'size-lf' : 'extension';
    this.#extensionPart = 'semicolon';
    return undefined;
  }

  #readExtension(code: number): WireFault | undefined {
    if (code === cr && mayEndBehind(this.#extensionPart)) {
      this.#phase = 'size-lf';
      return undefined;
    }
    this.#extensionBytes += 1;
    if (this.#extensionBytes > extensionBytes) {
      return tooLarge(`The extensions of the chunks are longer than ${extensionBytes} bytes; leave them out.`);
    }
    const part = nextPart(this.#extensionPart, code);
    if (part === undefined) return malformed('The extension of a chunk is none that HTTP knows; leave it out.');
    this.#extensionPart = part;
    return undefined;
  }

  #readTrailers(bytes: Buffer, at: number): number | WireFault {
    const heldBytes = this.#held.length;
    const all = heldBytes === 0 ? bytes.subarray(at) : Buffer.concat([this.#held, bytes.subarray(at)]);
    const end = endOfTrailers(all);
    if (Math.max(end, 0) > trailerBytes || (end === -1 && all.length > trailerBytes)) {
      return tooLarge(`The trailers are longer than ${trailerBytes} bytes; send less in them.`);
    }
    if (end === -1) {
      if (mustBeNoTrailer(all)) return malformed('The trailers hold a line that does not end with CR LF.');
      this.#held = all;
      return bytes.length;
    }
    if (end > 2) {
      const spans: number[] = [];
      const fault = readFields(all, 0, end - 2, trailerLimits, spans);
      if (fault !== undefined) return fault;
      this.trailers = new Fields(all.toString('latin1', 0, end - 2), spans);
      const refused = neverTrailers.find((name) => this.trailers.has(name));
      if (refused !== undefined) return malformed(`The trailer ${refused} would change the message; leave it out.`);
    }
    this.#held = nothing;
    this.#phase = 'over';
    return at + end - heldBytes;
  }
}

const emptyLine = Buffer.from('\r\n\r\n');

/** Where the trailers end, with the blank line; -1 while its bytes have not arrived. */
function endOfTrailers(bytes: Buffer): number {
  if (bytes[0] === cr && bytes[1] === lf) return 2;
  const at = bytes.indexOf(emptyLine);
  return at === -1 ? -1 : at + emptyLine.length;
}

/** Whether the bytes can be no trailers: a client with other line ends would wait for an answer until the timeout. */
function mustBeNoTrailer(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(lf); at !== -1; at = bytes.indexOf(lf, at + 1)) {
    if (bytes[at - 1] !== cr) return true;
  }
  return bytes[0] === cr && bytes.length > 1;
}

/** The last part of the chunk extensions: `;name`, `;name=value`, `;name="value"`, repeated; RFC 9112 allows blanks after `;` and around `=`. */
type ExtensionPart =
  | 'semicolon'
  | 'name'
  | 'blank behind the name'
  | 'equals sign'
  | 'value'
  | 'quoted value'
  | 'backslash'
  | 'closing quote'
  | 'blank behind the value';

const equals = 0x3d;
const quote = 0x22;
const backslash = 0x5c;

function mayEndBehind(part: ExtensionPart): boolean {
  return part === 'name' || part === 'value' || part === 'closing quote';
}

/** The part that `code` begins or continues after `part`; undefined where it is not allowed there. */
function nextPart(part: ExtensionPart, code: number): ExtensionPart | undefined {
  const isBlank = code === space || code === tab;
  switch (part) {
    case 'semicolon':
      return isBlank ? 'semicolon' : inToken[code] === 1 ? 'name' : undefined;
    case 'name':
      return inToken[code] === 1 ? 'name' : isBlank ? 'blank behind the name' : behindName(code);
    case 'blank behind the name':
      return isBlank ? part : behindName(code);
    case 'equals sign':
      if (code === quote) return 'quoted value';
      return isBlank ? 'equals sign' : inToken[code] === 1 ? 'value' : undefined;
    case 'value':
      return inToken[code] === 1 ? 'value' : behindValue(code);
    case 'quoted value':
      if (code === quote) return 'closing quote';
      if (code === backslash) return 'backslash';
      return inValue[code] === 1 ? 'quoted value' : undefined;
    case 'backslash':
      return inValue[code] === 1 ? 'quoted value' : undefined;
    case 'closing quote':
    case 'blank behind the value':
      return behindValue(code);
  }
}

function behindName(code: number): ExtensionPart | undefined {
  return code === equals ? 'equals sign' : code === semicolon ? 'semicolon' : undefined;
}

function behindValue(code: number): ExtensionPart | undefined {
  if (code === semicolon) return 'semicolon';
  return code === space || code === tab ? 'blank behind the value' : undefined;
}
