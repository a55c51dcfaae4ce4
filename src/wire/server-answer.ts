/** The response to one request: head, body, trailers. The head and the first data are sent in one write. */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { DateLine, hasLeft, mostMessageBytes, toFieldLines, toReason, writeMessage } from './head-writer.ts';

/** How the client finds the end of the body; with `none`, the connection ends, or there is no body. */
export type Framing = 'length' | 'chunked' | 'none';

/** Notified when everything written was sent, and more may follow. An object and no callback: V8 keeps closures that are never called. */
export interface AnswerWatcher {
  onDrain(): void;
}

/** Notified when an answer is over: it was sent whole, or the connection has ended. */
export interface AnswerEnd {
  onAnswerClosed(isWhole: boolean): void;
}

/** What carries answers to their client. */
export interface AnswerCarrier {
  readonly socket: Pick<Socket, 'cork' | 'uncork' | 'write' | 'writableLength'>;
  /** The last lines of a head, about the connection; this may decide that it is the last answer. */
  closingLines(answer: ServerAnswer): string;
  /** What is left of the head, or of the framing, and of the body. */
  writeLast(text: string, body: Buffer | undefined): void;
  answerWritten(): void;
  breakOff(reset: boolean): void;
  limitReader(idleMs: number): void;
}

const lineEnd = Buffer.from('\r\n');
const okLine = 'HTTP/1.1 200 OK\r\n';
const dates = new DateLine();

export class ServerAnswer {
  /** Whether another request may follow on the connection; it counts when the head is written. */
  keepAlive: boolean;
  /** The head has been written, or waits for what comes with it. */
  headersSent = false;
  /** Nothing more will be written. */
  isEnded = false;
  /** It was sent completely, or the connection has closed. */
  isClosed = false;
  /** Names and values in turn, for whatever head it will have. */
  readonly standing: string[] = [];
  drains: AnswerWatcher | undefined = undefined;
  ends: AnswerEnd | undefined = undefined;

  readonly #carrier: AnswerCarrier;
  readonly #isHead: boolean;
  readonly #isOld: boolean;
  /** Until it leaves. */
  #head = '';
  #isChunked = false;

  constructor(carrier: AnswerCarrier, method: string, minor: 0 | 1, keepAlive: boolean) {
    this.#carrier = carrier;
    this.#isHead = method === 'HEAD';
    this.#isOld = minor === 0;
    this.keepAlive = keepAlive;
  }

  /** A whole answer, its body given as text; the length of it in bytes comes back. */
  send(status: number, headers: readonly string[], body: string): number {
    const bytes = Buffer.from(body);
    const own = ['content-length', String(bytes.length), 'date', dates.at(Date.now())];
    this.writeHead(status, STATUS_CODES[status] ?? '', [...headers, ...own], 'length');
    this.end(this.#isHead ? undefined : bytes);
    return bytes.length;
  }

  /** Sent with the first piece of the body, at the end, or when it is flushed. With `length`, the headers contain the length. */
  writeHead(status: number, statusText: string, headers: readonly string[], framing: Framing): void {
    this.writeHeadLines(status, statusText, toFieldLines(headers), framing);
  }

  /** The same with headers as the lines of a head. */
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

  /** How bodies of unknown length are framed for this client. */
  get openFraming(): Framing {
    return this.#isOld ? 'none' : 'chunked';
  }

  get hasLeft(): boolean {
    return hasLeft(this.#carrier.socket);
  }

  /** False if the reader is behind: `onDrain` is called when it has caught up. */
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

  /** The head alone, where what follows may be far off. */
  flush(): void {
    if (this.#head === '' || this.isClosed) return;
    const head = this.#head;
    this.#head = '';
    this.#carrier.socket.write(head, 'latin1');
  }

  /** Trailers as lines; they leave where the body has no announced length. */
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
   * Half an answer is out: a proper end would make it look whole. What was written still leaves, then the socket breaks; where
   * the end of the connection would be the end of the body, only a reset tells the two apart.
   */
  cut(endsWithConnection: boolean): void {
    if (this.isClosed) return;
    this.flush();
    this.#carrier.breakOff(endsWithConnection);
  }

  /** From now on its reader has so long for each part of it. */
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
