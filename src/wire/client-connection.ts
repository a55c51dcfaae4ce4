/** Client side of one HTTP/1.1 connection: sends one call at a time and reads its answer. */

import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { AnswerHead, AnswerMemo } from './answer-head.ts';
import { ChunkReader } from './chunks.ts';
import type { CallHolder, ClientCall, Piece, StoredPiece } from './client-call.ts';
import { BadAnswerError, BrokenConnectionError } from './client-errors.ts';
import { narrow } from './connect.ts';
import { inOurWords } from './fault.ts';
import { HeadCollector } from './head-collector.ts';
import { mostMessageBytes, writeMessage } from './head-writer.ts';
import type { Bucket, Timed, Wheel } from './wheel.ts';

/** The owner of a connection; a free connection returns to it. */
export interface ConnectionOwner {
  onFree(connection: ClientConnection): void;
  /** The server closed the connection soon after an answer, without announcing it. */
  onEndedEarly(): void;
  onClosed(connection: ClientConnection): void;
}

export interface ConnectionOptions {
  readonly wheel: Wheel;
  readonly heads: AnswerMemo;
  /** How long an idle connection is kept, if the server does not say. */
  readonly keepAliveMs: number;
  /** Time after which a connection makes no further calls. */
  readonly lifeMs: number;
}

const headLimits = { fields: 16 * 1024, fieldBytes: 64 * 1024 };
const headBytes = 64 * 1024;
/** Bytes written at once, so that the time of "the last byte sent" of a long body is that of sending, not of buffering. */
const sliceBytes = 64 * 1024;
/** If the server says how long it keeps connections, they are closed this much earlier: at least a round trip. */
const keepAliveMarginMs = 1_000;
/** A server that closes a connection this soon after an answer does not keep connections. */
const earlyMs = 1_000;
const beginning = Buffer.from('HTTP/1.');
const firstStatusDigitAt = 9;
const digitOne = 0x31;
const nothing = Buffer.alloc(0);

type Phase = 'idle' | 'head' | 'length' | 'chunks' | 'to-end' | 'closed';

export class ClientConnection implements CallHolder, Timed {
  dueMs: number;
  bucket: Bucket | undefined = undefined;
  bucketIndex = 0;

  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #options: ConnectionOptions;
  readonly #agesAtMs: number;
  readonly #collector = new HeadCollector(headBytes);
  #phase: Phase = 'idle';
  #call: ClientCall | undefined = undefined;
  #served = false;
  #freeAtMs = 0;
  #lastBytesAtMs = 0;
  #paused = false;

  // State of the request that is being sent.
  #isSending = false;
  #pieces: readonly Piece[] = [];
  #pieceAt = 0;
  #offset = 0;
  #isReadingSlice = false;

  // State of the answer that is being read.
  #sawByte = false;
  #sawAnswer = false;
  #leftBytes = 0;
  #chunks: ChunkReader | undefined = undefined;
  #keepAliveMs = 0;

  constructor(socket: Socket, owner: ConnectionOwner, options: ConnectionOptions) {
    this.#socket = socket;
    this.#owner = owner;
    this.#options = options;
    this.#agesAtMs = performance.now() + options.lifeMs;
    this.dueMs = this.#agesAtMs;
    options.wheel.add(this);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('end', () => this.#onEnd());
    socket.on('error', (error: NodeJS.ErrnoException) => this.#onError(error));
    socket.on('close', () => this.#break(new BrokenConnectionError('the connection was closed')));
    socket.on('drain', () => this.#onDrain());
  }

  // Called by the owner.

  get isIdle(): boolean {
    return this.#phase === 'idle';
  }

  /** Sends a call; only allowed while no call is running. */
  send(call: ClientCall): void {
    this.#socket.ref();
    this.#call = call;
    call.holder = this;
    this.#phase = 'head';
    this.#sawByte = false;
    this.#sawAnswer = false;
    this.dueMs = this.#agesAtMs;
    call.handler.onStart();
    if (this.#call === call) this.#write(call);
  }

  /** Makes the connection idle: it was opened, or is free again, and no call needs it. */
  rest(): void {
    this.#socket.unref();
    const untilMs = this.#served ? this.#freeAtMs + this.#keepAliveMs : performance.now() + this.#options.keepAliveMs;
    this.dueMs = Math.min(this.#agesAtMs, untilMs);
    this.#options.wheel.add(this);
  }

  destroy(error: Error): void {
    this.#break(error);
  }

  onDue(nowMs: number): void {
    if (this.#phase === 'idle') this.#close();
    else if (nowMs < this.#agesAtMs) {
      this.dueMs = this.#agesAtMs;
      this.#options.wheel.add(this);
    }
  }

  // Called by the call.

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  drop(call: ClientCall): void {
    if (this.#call !== call) return;
    this.#call = undefined;
    this.#close();
  }

  // Sending.

  #write(call: ClientCall): void {
    const socket = this.#socket;
    const { head, body, bodyBytes } = call;
    call.head = '';
    call.body = [];
    if (head.length + bodyBytes <= mostMessageBytes && body.every((piece) => Buffer.isBuffer(piece))) {
      writeMessage(socket, head, body);
      call.handler.onSent();
      return;
    }
    this.#isSending = true;
    this.#pieces = body;
    this.#pieceAt = 0;
    this.#offset = 0;
    socket.cork();
    socket.write(head, 'latin1');
    const first = this.#nextSlice();
    if (Buffer.isBuffer(first)) socket.write(first);
    socket.uncork();
    if (!socket.writableNeedDrain) this.#writeOn();
  }

  #onDrain(): void {
    if (this.#isSending && this.#call !== undefined) this.#writeOn();
  }

  /** Writes as much as the socket takes; the rest waits until the socket has sent that. */
  #writeOn(): void {
    for (let slice = this.#nextSlice(); slice !== undefined; slice = this.#nextSlice()) {
      if (slice === 'later' || !this.#socket.write(slice)) return;
    }
    this.#isSending = false;
    this.#pieces = [];
    this.#call?.handler.onSent();
  }

  #nextSlice(): Buffer | 'later' | undefined {
    if (this.#isReadingSlice) return 'later';
    let piece = this.#pieces[this.#pieceAt];
    while (piece !== undefined && this.#offset >= piece.length) {
      this.#pieceAt += 1;
      this.#offset = 0;
      piece = this.#pieces[this.#pieceAt];
    }
    if (piece === undefined) return undefined;
    if (!Buffer.isBuffer(piece)) {
      this.#readSlice(piece);
      return 'later';
    }
    const slice = piece.subarray(this.#offset, this.#offset + sliceBytes);
    this.#offset += slice.length;
    return slice;
  }

  #readSlice(piece: StoredPiece): void {
    this.#isReadingSlice = true;
    piece.read(this.#offset, sliceBytes).then(
      (slice) => this.#sendSlice(slice),
      (error: unknown) => {
        // The source of a stored piece is released once nobody sends it any more.
        const cause = error instanceof Error ? { cause: error } : {};
        this.#break(new BrokenConnectionError('the body could not be read', cause));
      },
    );
  }

  #sendSlice(slice: Buffer): void {
    // The call is over: its answer came before all was sent, or its client left. Both end the connection.
    if (this.#phase === 'closed') return;
    this.#isReadingSlice = false;
    this.#offset += slice.length;
    if (this.#socket.write(slice)) this.#writeOn();
  }

  // Reading.

  #onData(chunk: Buffer): void {
    this.#lastBytesAtMs = performance.now();
    this.#read(chunk);
  }

  #read(chunk: Buffer): void {
    switch (this.#phase) {
      case 'head':
        this.#sawByte = true;
        this.#readHead(chunk);
        break;
      case 'length':
        this.#readLength(chunk);
        break;
      case 'chunks':
        this.#readChunks(chunk);
        break;
      case 'to-end':
        this.#call?.handler.onBody(chunk, this.#lastBytesAtMs);
        break;
      case 'idle':
        // The server sent bytes although no call is waiting for an answer.
        this.#close();
        break;
      case 'closed':
        break;
    }
  }

  #readHead(chunk: Buffer): void {
    for (let rest = this.#readOneHead(chunk); rest.length > 0; ) rest = this.#readOneHead(rest);
  }

  /** Reads a head; returns the bytes after an informational one (1xx), and nothing in all other cases. */
  #readOneHead(bytes: Buffer): Buffer {
    const call = this.#call;
    const collector = this.#collector;
    const isWhole = collector.push(bytes);
    if (typeof isWhole === 'object') {
      this.#refuse(inOurWords(isWhole));
      return nothing;
    }
    if (!this.#sawAnswer && this.#lookAtBeginning()) {
      this.#sawAnswer = true;
      call?.handler.onFirstByte(this.#lastBytesAtMs);
    }
    // The call was given up, or the answer was refused.
    if (this.#call === undefined || !isWhole) return nothing;
    const head = this.#options.heads.read(collector.bytes, collector.endsAt, headLimits, this.#call.isHead);
    const rest = collector.bytes.subarray(collector.endsAt);
    narrow(collector.bytes, rest);
    collector.reset();
    if ('kind' in head) this.#refuse(inOurWords(head));
    else if (head.status === 101) this.#refuse('The answer is a change of protocol (101) that nobody asked for.');
    else if (head.status < 200) return rest;
    else this.#takeHead(head, rest);
    return nothing;
  }

  #takeHead({ status, statusText, headers, memo, bodyBytes, keepAlive, keepAliveS }: AnswerHead, rest: Buffer): void {
    const call = this.#call;
    const keptMs = keepAliveS === undefined ? this.#options.keepAliveMs : keepAliveS * 1_000 - keepAliveMarginMs;
    this.#keepAliveMs = keepAlive ? Math.max(0, keptMs) : 0;
    this.#beginBody(bodyBytes);
    call?.handler.onHead(status, statusText, headers, memo);
    if (this.#call !== call) return;
    if (bodyBytes === 0) this.#finish(rest.length, []);
    else if (rest.length > 0) this.#read(rest);
  }

  /** True once it is known that the head is not informational; refuses bytes that no answer begins with. */
  #lookAtBeginning(): boolean {
    const { bytes } = this.#collector;
    const known = Math.min(bytes.length, beginning.length);
    if (bytes.compare(beginning, 0, known, 0, known) !== 0) {
      this.#refuse('The answer does not begin as one of HTTP/1 does.');
      return false;
    }
    return bytes.length > firstStatusDigitAt && bytes[firstStatusDigitAt] !== digitOne;
  }

  #beginBody(bodyBytes: number | 'chunked' | 'to-end'): void {
    if (bodyBytes === 'chunked') {
      this.#chunks = new ChunkReader(this);
      this.#phase = 'chunks';
    } else if (bodyBytes === 'to-end') {
      this.#phase = 'to-end';
    } else {
      this.#leftBytes = bodyBytes;
      this.#phase = 'length';
    }
  }

  #readLength(chunk: Buffer): void {
    const call = this.#call;
    const moreBytes = chunk.length - this.#leftBytes;
    const piece = moreBytes > 0 ? chunk.subarray(0, this.#leftBytes) : chunk;
    this.#leftBytes -= piece.length;
    call?.handler.onBody(piece, this.#lastBytesAtMs);
    if (this.#leftBytes === 0 && this.#call === call) this.#finish(moreBytes, []);
  }

  #readChunks(chunk: Buffer): void {
    const reader = this.#chunks;
    if (reader === undefined) return;
    const end = reader.push(chunk, 0);
    if (this.#chunks !== reader) return;
    if (typeof end === 'object') this.#refuse(inOurWords(end));
    else if (reader.isOver) this.#finish(chunk.length - end, reader.trailers.list);
  }

  onBody(piece: Buffer): void {
    this.#call?.handler.onBody(piece, this.#lastBytesAtMs);
  }

  /** Ends the call, as the answer is complete; `moreBytes` is the number of bytes after it. */
  #finish(moreBytes: number, trailers: readonly string[]): void {
    const call = this.#call;
    this.#call = undefined;
    this.#chunks = undefined;
    this.#served = true;
    // Unasked bytes, a body that was not wanted whole, and an old connection end the connection; the answer stands.
    const nowMs = this.#lastBytesAtMs;
    if (moreBytes > 0 || this.#isSending || this.#keepAliveMs === 0 || nowMs >= this.#agesAtMs) {
      this.#close();
    } else {
      this.#phase = 'idle';
      this.#freeAtMs = nowMs;
      this.resume();
      this.#owner.onFree(this);
    }
    call?.leave();
    call?.handler.onEnd(trailers);
  }

  // The end of the connection.

  #onEnd(): void {
    if (this.#phase === 'to-end') {
      this.#keepAliveMs = 0;
      this.#finish(0, []);
      return;
    }
    this.#reportEarlyEnd();
    this.#break(new BrokenConnectionError('the other side closed the connection', { stale: this.#isUnanswered }));
  }

  #onError(error: NodeJS.ErrnoException): void {
    this.#reportEarlyEnd();
    const stale = this.#isUnanswered && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
    this.#break(new BrokenConnectionError(error.message, { code: error.code, stale, cause: error }));
  }

  #reportEarlyEnd(): void {
    const isFree = this.#phase === 'idle' || this.#isUnanswered;
    if (this.#served && isFree && performance.now() - this.#freeAtMs < earlyMs) this.#owner.onEndedEarly();
  }

  get #isUnanswered(): boolean {
    return this.#served && !this.#sawByte;
  }

  #refuse(message: string): void {
    this.#break(new BadAnswerError(message));
  }

  #break(error: Error): void {
    if (this.#phase === 'closed') return;
    const call = this.#call;
    this.#call = undefined;
    this.#close();
    call?.leave();
    call?.handler.onError(error);
  }

  #close(): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#chunks = undefined;
    this.#pieces = [];
    this.#isSending = false;
    this.#options.wheel.remove(this);
    this.#collector.reset();
    this.#socket.destroy();
    this.#owner.onClosed(this);
  }
}
