/** A strict parser of HTTP/1.1 messages that keeps head, body and framing unchanged. */

export type HeaderField = readonly [name: string, value: string];

/** What came is no HTTP/1.1 that a careful peer would send. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** All values of a field, joined as a recipient would; undefined where the field is absent. */
export function headerValue(headers: readonly HeaderField[], name: string): string | undefined {
  const values = headers.filter(([field]) => field.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

export interface MessageHead {
  readonly startLine: string;
  /** In the order and case they came. */
  readonly headers: readonly HeaderField[];
  /** Start line, fields and the empty line, byte for byte. */
  readonly rawHead: Buffer;
}

export interface MessageEvents {
  /** Returns how the body is framed; throws a WireError to refuse the message. */
  onHead(head: MessageHead): Framing;
  /** A piece of the body, without its framing. */
  onBody(bytes: Buffer): void;
  onComplete(trailers: readonly HeaderField[]): void;
}

export interface MessageReader {
  /** Takes the next bytes of the stream; throws a WireError at the first byte that does not belong. */
  push(bytes: Buffer): void;
  /** The stream has ended: completes a body that lasts until then. True where no message was left half-read. */
  end(): boolean;
}

const maxHeadBytes = 1024 * 1024;
const maxChunkLineBytes = 4096;
const endOfHead = Buffer.from('\r\n\r\n');
const endOfLine = Buffer.from('\r\n');

export function createMessageReader(events: MessageEvents): MessageReader {
  /** Held back until there is enough to go on with: part of a head, of a chunk's size line, of the trailers. */
  let held: Buffer = Buffer.alloc(0);
  let read: (bytes: Buffer) => Buffer | undefined = readHead;
  let left = 0;

  const nothing: Buffer = Buffer.alloc(0);

  /** Each reading step returns what it leaves to the next one, or undefined to wait for more with `held` set. */
  function readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(endOfHead);
    if (end === -1) {
      if (bytes.length > maxHeadBytes) throw new WireError('the head has no end');
      return hold(bytes);
    }
    const rawHead = bytes.subarray(0, end + endOfHead.length);
    const framing = events.onHead(parseHead(rawHead));
    start(framing);
    return bytes.subarray(rawHead.length);
  }

  function start(framing: Framing): void {
    switch (framing.kind) {
      case 'none':
        complete([]);
        return;
      case 'length':
        left = framing.bytes;
        if (left === 0) complete([]);
        else read = readSized;
        return;
      case 'chunked':
        read = readChunkLine;
        return;
      case 'until-close':
        read = readUntilClose;
    }
  }

  function readSized(bytes: Buffer): Buffer {
    const rest = takeBody(bytes);
    if (left === 0) complete([]);
    return rest;
  }

  function readUntilClose(bytes: Buffer): Buffer {
    events.onBody(bytes);
    return nothing;
  }

  function readChunkLine(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(endOfLine);
    if (end === -1) {
      if (bytes.length > maxChunkLineBytes) throw new WireError('the line of a chunk size has no end');
      return hold(bytes);
    }
    left = parseChunkSize(bytes.toString('latin1', 0, end));
    read = left === 0 ? readTrailers : readChunkData;
    return bytes.subarray(end + endOfLine.length);
  }

  function readChunkData(bytes: Buffer): Buffer {
    const rest = takeBody(bytes);
    if (left === 0) read = readChunkEnd;
    return rest;
  }

  function readChunkEnd(bytes: Buffer): Buffer | undefined {
    if (bytes.length < endOfLine.length) return hold(bytes);
    if (!bytes.subarray(0, endOfLine.length).equals(endOfLine)) {
      throw new WireError('a chunk is longer than its size says');
    }
    read = readChunkLine;
    return bytes.subarray(endOfLine.length);
  }

  function readTrailers(bytes: Buffer): Buffer | undefined {
    if (bytes.length < endOfLine.length) return hold(bytes);
    if (bytes.subarray(0, endOfLine.length).equals(endOfLine)) {
      complete([]);
      return bytes.subarray(endOfLine.length);
    }
    const end = bytes.indexOf(endOfHead);
    if (end === -1) {
      if (bytes.length > maxHeadBytes) throw new WireError('the trailers have no end');
      return hold(bytes);
    }
    complete(parseFields(bytes.toString('latin1', 0, end).split('\r\n')));
    return bytes.subarray(end + endOfHead.length);
  }

  function takeBody(bytes: Buffer): Buffer {
    const piece = bytes.subarray(0, left);
    left -= piece.length;
    events.onBody(piece);
    return bytes.subarray(piece.length);
  }

  function hold(bytes: Buffer): undefined {
    held = bytes;
  }

  function complete(trailers: readonly HeaderField[]): void {
    read = readHead;
    events.onComplete(trailers);
  }

  return {
    push(bytes) {
      let rest: Buffer | undefined = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      held = nothing;
      while (rest !== undefined && rest.length > 0) rest = read(rest);
    },
    end() {
      if (read === readUntilClose) {
        complete([]);
        return true;
      }
      return read === readHead && held.length === 0;
    },
  };
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

function parseHead(rawHead: Buffer): MessageHead {
  const [startLine = '', ...lines] = rawHead.toString('latin1', 0, rawHead.length - endOfHead.length).split('\r\n');
  if (!/^[\x20-\x7e\x80-\xff]+$/.test(startLine)) throw new WireError(`a start line of ${JSON.stringify(startLine)}`);
  return { startLine, headers: parseFields(lines), rawHead };
}

function parseFields(lines: readonly string[]): HeaderField[] {
  return lines.map((line) => {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = line.slice(colon + 1);
    if (!token.test(name) || !fieldValue.test(value)) throw new WireError(`a field of ${JSON.stringify(line)}`);
    return [name, value.replace(/^[ \t]+|[ \t]+$/g, '')];
  });
}

function parseChunkSize(line: string): number {
  const size = /^([0-9A-Fa-f]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/.exec(line)?.[1];
  if (size === undefined) throw new WireError(`a chunk size of ${JSON.stringify(line)}`);
  return Number.parseInt(size, 16);
}

/** The framing by the header fields; undefined if there are none. Contradictions are refused. */
export function parseFraming(headers: readonly HeaderField[]): Framing | undefined {
  const coding = headerValue(headers, 'transfer-encoding');
  const length = headerValue(headers, 'content-length');
  if (coding !== undefined) {
    if (length !== undefined) throw new WireError('both Transfer-Encoding and Content-Length');
    if (coding.toLowerCase() !== 'chunked') throw new WireError(`a Transfer-Encoding of ${JSON.stringify(coding)}`);
    return { kind: 'chunked' };
  }
  if (length === undefined) return undefined;
  if (!/^(0|[1-9][0-9]{0,14})$/.test(length)) throw new WireError(`a Content-Length of ${JSON.stringify(length)}`);
  return { kind: 'length', bytes: Number(length) };
}

/** Start line and fields as bytes; values are taken as latin1, so any byte can be sent. */
export function toHead(startLine: string, headers: readonly HeaderField[]): Buffer {
  const lines = [startLine, ...headers.map(([name, value]) => `${name}: ${value}`), '', ''];
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

export function toChunk(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, endOfLine]);
}

export const lastChunk: Buffer = Buffer.from('0\r\n\r\n');

/** Milliseconds since the epoch, with fractions: comparable between the two ends of a test. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
