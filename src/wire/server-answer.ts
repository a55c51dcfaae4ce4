/** Writes the response to one request: head, body, trailers. The head and the first data are sent in one write. */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { DateLine, hasLeft, mostMessageBytes, toFieldLines, toReason, writeMessage } from './head-writer.ts';

/** How the client finds the end of the body. `none`: the body ends with the connection, or there is no body. */
export type Framing = 'length' | 'chunked' | 'none';

/** Called when all written bytes were sent, and more may be written. An object, as V8 keeps closures that are never called. */
export interface AnswerWatcher {
  onDrain(): void;
}

/** Called when an answer is over: it was sent completely, or the connection has ended. */
export interface AnswerEnd {
  onAnswerClosed(isWhole: boolean): void;
}

/** What sends answers to their client: the server's side of a connection. */
export interface AnswerCarrier {
  readonly socket: Pick<Socket, 'cork' | 'uncork' | 'write' | 'writableLength'>;
  /** The last lines of a head, about the connection; the call may decide that this is the last answer. */
  closingLines(answer: ServerAnswer): string;
  /** Writes the rest of an answer: `text` is what remains of the head or the framing. */
  writeLast(text: string, body: Buffer | undefined): void;
  answerWritten(): void;
  breakOff(reset: boolean): void;
  limitReader(idleMs: number): void;
}

const lineEnd = Buffer.from('\r\n');
const okLine = 'HTTP/1.1 200 OK\r\n';
const dates = new DateLine();

export class ServerAnswer {
  /** Whether another request may follow on the connection; read when the head is written. */
  keepAlive: boolean;
  /** Whether the head was written, or waits for the first data. */
  headersSent = false;
  /** Whether nothing more will be written. */
  isEnded = false;
  /** Whether the answer was sent completely, or the connection has closed. */
  isClosed = false;
  /** Headers that any head of this answer gets: names and values alternately. */
  readonly standing: string[] = [];
  drains: AnswerWatcher | undefined = undefined;
  ends: AnswerEnd | undefined = undefined;

  readonly #carrier: AnswerCarrier;
  readonly #isHead: boolean;
  readonly #isOld: boolean;
  /** The head until it is sent; then empty. */
  #head = '';
  #isChunked = false;

  constructor(carrier: AnswerCarrier, method: string, minor: 0 | 1, keepAlive: boolean) {
    this.#carrier = carrier;
    this.#isHead = method === 'HEAD';
    this.#isOld = minor === 0;
    this.keepAlive = keepAlive;
  }

  /** Sends a complete answer with a text as its body; returns the body's length in bytes. */
  send(status: number, headers: readonly string[], body: string): number {
    const bytes = Buffer.from(body);
    const own = ['content-length', String(bytes.length), 'date', dates.at(Date.now())];
    this.writeHead(status, STATUS_CODES[status] ?? '', [...headers, ...own], 'length');
    this.end(this.#isHead ? undefined : bytes);
    return bytes.length;
  }

  /** Prepares the head, which is sent with the first data, at the end, or by `flush`. With `length`, the headers contain the length. */
  writeHead(status: number, statusText: string, headers: readonly string[], framing: Framing): void {
    this.writeHeadLines(status, statusText, toFieldLines(headers), framing);
  }

  /** Prepares the head like `writeHead`, with the headers as lines. */
  writeHeadLines(status: number, statusText: string, lines: string, framing: Framing): void {
    if (this.headersSent) throw new TypeError('the head of this answer was written before');
    this.headersSent = true;
    if (framing === 'none' && status !== 204 && status !== 304) this.keepAlive = false;
    this.#isChunked = framing === 'chunked';
    const own = this.#carrier.closingLines(this);
    const coding = this.#isChunked ? 'Transfer-Encoding: chunked\r\n' : '';
    const standing = this.standing.length === 0 ? '' : toFieldLines(this.standing);
    const line = status === 200 && statusText === 'OK' ? okLine : `HTTP/1.1 ${status} ${toReason(statusText)}\r\n`;
    this.#head = `${line}${lines}${standing}${coding}${own}`;
  }

  /** Framing of bodies of unknown length that this client understands. */
  get openFraming(): Framing {
    return this.#isOld ? 'none' : 'chunked';
  }

  get hasLeft(): boolean {
    return hasLeft(this.#carrier.socket);
  }

  /** Writes a part of the body. False if the reader is behind: `onDrain` is called when it has caught up. */
  write(chunk: Buffer): boolean {
    if (this.isClosed) return true;
    const { socket } = this.#carrier;
    const before = this.#isChunked ? `${this.#head}${chunk.length.toString(16)}\r\n` : this.#head;
    this.#head = '';
    if (before === '') return socket.write(chunk);
    if (before.length + chunk.length + lineEnd.length <= mostMessageBytes) {
      return writeMessage(socket, before, this.#isChunked ? [chunk, lineEnd] : [chunk]);
    }
    socket.cork();
    socket.write(before, 'latin1');
    let isOpen = socket.write(chunk);
    if (this.#isChunked) isOpen = socket.write(lineEnd);
    socket.uncork();
    return isOpen;
  }

  /** Sends the head alone, if its first data may take a while. */
  flush(): void {
    if (this.#head === '' || this.isClosed) return;
    const head = this.#head;
    this.#head = '';
    this.#carrier.socket.write(head, 'latin1');
  }

  /** Ends the answer. Trailers (as lines) are sent if the body has no announced length. */
  end(chunk?: Buffer, trailers = ''): void {
    if (this.isEnded || this.isClosed) return;
    this.isEnded = true;
    let last = chunk?.length === 0 ? undefined : chunk;
    if (this.#isChunked) {
      if (last !== undefined) this.write(last);
      last = undefined;
      this.#head += `0\r\n${trailers}\r\n`;
    }
    if (this.#head !== '' || last !== undefined) this.#carrier.writeLast(this.#head, last);
    this.#carrier.answerWritten();
    this.#head = '';
  }

  /**
   * Breaks an answer off: a proper end would make it look complete. Written bytes are still sent, then the socket is closed. `endsWithConnection`:
   * the body has no other end, so that only a reset shows the break.
   */
  cut(endsWithConnection: boolean): void {
    if (this.isClosed) return;
    this.flush();
    this.#carrier.breakOff(endsWithConnection);
  }

  /** Limits the time that the reader may take for each part of the answer, from now on. */
  limitReader(idleMs: number): void {
    if (!this.isClosed) this.#carrier.limitReader(idleMs);
  }

  closed(isWhole: boolean): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#head = '';
    const { ends } = this;
    this.drains = undefined;
    this.ends = undefined;
    ends?.onAnswerClosed(isWhole);
  }
}
