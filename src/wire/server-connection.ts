/** Server side of one HTTP/1.1 connection: reads requests, writes responses, enforces timeouts, and closes in order. */

import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { ByteHold } from './byte-hold.ts';
import { malformed, type WireFault } from './fault.ts';
import { HeadCollector } from './head-collector.ts';
import { HeadMemo } from './head-memo.ts';
import { mostMessageBytes, writeMessage } from './head-writer.ts';
import { IncomingBody } from './incoming-body.ts';
import { type AnswerCarrier, ServerAnswer } from './server-answer.ts';
import type { Served, ServerContext } from './server-context.ts';
import { type RequestSink, type RequestSource, ServerRequest } from './server-request.ts';
import type { Bucket } from './wheel.ts';

/** How long bytes that a client still sends are discarded at the end: if the connection was closed at once, the client could lose the answer. */
const lingerMs = 1_000;
const mostUnreadBytes = 64 * 1024;
/** How long a reader may take for the bytes that were written before an answer broke off. */
const lastWordsMs = 10_000;
const never = Number.POSITIVE_INFINITY;

/** `open`: between requests; `serving`: within one; `ending`: closing after the last answer. */
type State = 'open' | 'serving' | 'ending' | 'closed';

const nothing = Buffer.alloc(0);

export class ServerConnection implements AnswerCarrier, RequestSource, Served {
  readonly socket: Socket;
  idleSinceMs: number;
  dueMs: number;
  bucket: Bucket | undefined = undefined;
  bucketIndex = 0;

  readonly #context: ServerContext;
  readonly #collector: HeadCollector;
  readonly #memo: HeadMemo;
  #state: State = 'open';
  #request: ServerRequest | undefined = undefined;
  #answer: ServerAnswer | undefined = undefined;
  #body: IncomingBody | undefined = undefined;
  /** Bytes that were not read yet: of a body without a reader, or of the next request. */
  readonly #held = new ByteHold();
  /** Whether reading from the socket is paused, for the reader of the body or for another reason. */
  #isPaused = false;
  #isStopped = false;
  #asked = false;
  #isTurning = false;
  /** Whether the whole answer was written; perhaps not all of it was sent. */
  #isWritten = false;
  /** Whether an answer was not sent at once, so that a callback must report when this one is sent. */
  #isSlow = false;
  #hasCallback = false;
  #headStartedMs = 0;
  /** Limits for a reader that is behind: the time for each part, and how many bytes it had read at the last check. */
  #readerMs = 0;
  #readBytes = 0;
  #peerEnded = false;
  /** Called when written bytes were sent; with an error, if they never will be. */
  readonly #onFlushed = (error?: Error | null): void => {
    if (!error) this.#flushed();
  };

  constructor(socket: Socket, context: ServerContext, nowMs: number) {
    this.socket = socket;
    this.#context = context;
    this.#collector = new HeadCollector(context.settings.headBytes);
    this.#memo = new HeadMemo(context.heads);
    this.idleSinceMs = nowMs;
    this.dueMs = nowMs + this.#headMs;
    context.wheel.add(this);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('end', () => this.#onEnd());
    socket.on('drain', () => this.#answer?.drains?.onDrain());
    socket.on('error', () => this.socket.destroy());
    socket.on('close', () => this.#onClose());
  }

  get isIdle(): boolean {
    return this.#state === 'open' && this.#collector.isEmpty;
  }

  get #headMs(): number {
    const { headMs, requestMs } = this.#context.settings;
    return Math.min(headMs, requestMs);
  }

  // Events of the socket.

  #onData(chunk: Buffer): void {
    switch (this.#state) {
      case 'open':
        this.#readRequests(chunk);
        return;
      case 'serving':
        if (this.#body?.isTaken && !this.#request?.isComplete && !this.#isPaused) this.#readBody(chunk);
        else this.#hold(chunk);
    }
  }

  /** Holds bytes until their reader or the previous answer is ready; above a limit, the sender is paused too. */
  #hold(chunk: Buffer): void {
    this.#held.push(chunk);
    const isAhead = this.#request?.isComplete === true;
    if (this.#held.length <= (isAhead ? this.#context.settings.headBytes : mostUnreadBytes)) return;
    this.#stop();
    // So many bytes ahead may have no end: the connection ends with this answer instead of reading them.
    if (isAhead && this.#answer !== undefined) this.#answer.keepAlive = false;
  }

  #onEnd(): void {
    this.#peerEnded = true;
    switch (this.#state) {
      case 'open':
        if (this.#collector.isEmpty) this.socket.end();
        else this.#refuse(malformed('The connection ended in the middle of the head of a request.'));
        return;
      case 'serving':
        if (this.#request?.isComplete === false) {
          // All of the request may be here, and wait for its reader.
          if (this.#body?.isTaken || !this.#context.settings.answersHalfClosed)
            this.#failBody(malformed('The connection ended in the middle of the body.'));
        } else if (!this.#isWritten && !this.#context.settings.answersHalfClosed) this.socket.destroy();
        return;
      case 'ending':
        if (this.socket.writableFinished) this.socket.destroy();
        else this.socket.once('finish', () => this.socket.destroy());
    }
  }

  #onClose(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#memo.close();
    this.#context.wheel.remove(this);
    this.#context.closed(this);
    // First the answer is closed: the body's reader must learn that the client left, not that the body is malformed.
    this.#answer?.closed(false);
    if (this.#request?.isComplete === false)
      this.#failBody(malformed('The connection broke in the middle of the body.'));
  }

  onDue(nowMs: number): void {
    if (this.#readerMs > 0) {
      this.#lookAtReader(nowMs);
    } else if (this.#state === 'open') {
      // A client that has sent nothing since its last answer gets no error.
      if (this.#collector.isEmpty && this.#headStartedMs !== 0) this.socket.destroy();
      else this.#context.spread(this);
    } else if (this.#state === 'serving' && this.#request?.isComplete === false) {
      this.#context.spread(this);
    } else if (this.#state === 'ending') {
      this.socket.destroy();
    }
  }

  expire(): void {
    const fault: WireFault = { kind: 'too-slow', message: '' };
    if (this.#state === 'open') this.#refuse(fault);
    else if (this.#state === 'serving' && this.#request?.isComplete === false) this.#failBody(fault);
  }

  #waitUntil(dueMs: number): void {
    const isEarlier = dueMs < this.dueMs;
    this.dueMs = dueMs;
    if (isEarlier || dueMs !== never) this.#context.wheel.add(this);
  }

  // Requests.

  /** Reads as many requests as have arrived and can be answered at once. A loop, because hundreds may have arrived together. */
  #readRequests(first: Buffer): void {
    this.#isTurning = true;
    let chunk = first;
    while (this.#state === 'open' && chunk.length > 0) {
      this.#readHead(chunk);
      chunk = this.#state === 'open' ? this.#held.take() : nothing;
    }
    this.#isTurning = false;
    this.#endWithPeer();
  }

  #endWithPeer(): void {
    if (this.#peerEnded && this.#state === 'open' && !this.#isTurning) this.#onEnd();
  }

  #readHead(chunk: Buffer): void {
    const collector = this.#collector;
    const isFirst = collector.isEmpty;
    const read = collector.push(chunk);
    if (isFirst && !collector.isEmpty) {
      this.#headStartedMs = performance.now();
      this.dueMs = this.#headStartedMs + this.#headMs;
      if (read === false) this.#context.wheel.add(this);
    }
    if (read === true) this.#begin(collector.bytes, collector.endsAt);
    else if (read !== false) this.#refuse(read);
  }

  #begin(bytes: Buffer, endsAt: number): void {
    const head = this.#memo.read(bytes, endsAt, this.#context.settings.fields);
    this.#collector.reset();
    if ('kind' in head) {
      this.#refuse(head);
      return;
    }
    const request = new ServerRequest(head, this);
    const answer = new ServerAnswer(this, head.method, head.minor, head.keepAlive && !this.#context.isDraining);
    this.#state = 'serving';
    this.#request = request;
    this.#answer = answer;
    if (endsAt < bytes.length) this.#held.push(bytes.subarray(endsAt));
    if (head.bodyBytes === 0) {
      request.isComplete = true;
      this.dueMs = never;
    } else {
      this.#body = new IncomingBody(head.bodyBytes);
      this.dueMs = this.#headStartedMs + this.#context.settings.requestMs;
      this.#context.wheel.add(this);
    }
    this.#context.handler.onRequest(request, answer);
  }

  #refuse(fault: WireFault): void {
    if (!this.socket.writable) {
      this.socket.destroy();
      return;
    }
    this.socket.write(this.#context.handler.answerTo(fault), 'latin1');
    this.#finishConnection();
  }

  // Bodies.

  faultOf(request: ServerRequest): WireFault | undefined {
    return request === this.#request ? this.#body?.fault : undefined;
  }

  askForBody(request: ServerRequest): void {
    if (request !== this.#request || !request.expectsContinue || request.isComplete || this.#asked) return;
    this.#asked = true;
    this.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
  }

  takeWhole(request: ServerRequest): Buffer | undefined {
    const held = this.#held.bytes;
    // A client that waits for `100 Continue` is answered, though it may have sent its body already.
    if (request !== this.#request || request.expectsContinue || this.#isPaused) return undefined;
    const whole = this.#body?.takeWhole(held);
    if (whole === undefined) return undefined;
    this.#held.take();
    request.isComplete = true;
    this.dueMs = never;
    if (whole.length < held.length) this.#hold(held.subarray(whole.length));
    this.#go();
    return whole;
  }

  read(request: ServerRequest, sink: RequestSink): void {
    if (request !== this.#request) return;
    if (this.#body === undefined) {
      sink.onBodyEnd();
      return;
    }
    this.#body.read(sink);
    if (this.#body.isTaken) this.#readHeld();
  }

  pauseBody(request: ServerRequest): void {
    if (request !== this.#request || request.isComplete) return;
    this.#isPaused = true;
    this.#stop();
  }

  resumeBody(request: ServerRequest): void {
    if (request !== this.#request || !this.#isPaused) return;
    this.#isPaused = false;
    this.#readHeld();
  }

  #readHeld(): void {
    const held = this.#held.take();
    if (held.length > 0) this.#readBody(held);
    if (!this.#isPaused) this.#go();
    if (this.#peerEnded && !this.#isPaused && this.#request?.isComplete === false) this.#onEnd();
  }

  #stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.socket.pause();
  }

  #go(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.socket.resume();
  }

  #readBody(chunk: Buffer): void {
    const body = this.#body;
    if (body === undefined) return;
    const stoppedAt = body.push(chunk);
    if (typeof stoppedAt === 'object') this.#failBody(stoppedAt);
    else if (body.isOver) this.#endBody(body, chunk, stoppedAt);
    else if (body.isTooMuch) this.socket.destroy();
  }

  #endBody(body: IncomingBody, chunk: Buffer, endsAt: number): void {
    const request = this.#request;
    if (request === undefined || this.#state !== 'serving') return;
    request.isComplete = true;
    this.dueMs = never;
    if (endsAt < chunk.length) this.#hold(chunk.subarray(endsAt));
    body.end();
    if (this.#isWritten) this.#flushed();
  }

  #failBody(fault: WireFault): void {
    if (this.#answer !== undefined) this.#answer.keepAlive = false;
    this.#body?.fail(fault);
    // The client has had its answer.
    if (this.#isWritten && this.#state === 'serving') this.#finishConnection();
  }

  // Answers.

  closingLines(answer: ServerAnswer): string {
    const { settings, isDraining } = this.#context;
    const request = this.#request;
    // A client that waits for `100 Continue` may never send its body, and what came next would be taken for it.
    const isUnasked = request?.isComplete === false && request.expectsContinue && !this.#asked;
    if (isDraining || this.#body?.fault !== undefined || isUnasked || !this.#mayHaveNext) answer.keepAlive = false;
    return answer.keepAlive ? keepAliveLines(settings.keepAliveMs) : 'Connection: close\r\n\r\n';
  }

  /** Writes the end of an answer. Mostly without a callback, because most answers are sent at once, and checking that costs less. */
  writeLast(text: string, body: Buffer | undefined): void {
    this.#hasCallback = this.#isSlow;
    const callback = this.#hasCallback ? this.#onFlushed : undefined;
    const { socket } = this;
    if (body === undefined) socket.write(text, 'latin1', callback);
    else if (text === '') socket.write(body, callback);
    else if (text.length + body.length <= mostMessageBytes) writeMessage(socket, text, [body], callback);
    else {
      socket.cork();
      socket.write(text, 'latin1');
      socket.write(body, callback);
      socket.uncork();
    }
  }

  answerWritten(): void {
    // A client that is still sending would see the connection break instead of the answer.
    if (this.#request?.isComplete === false && this.#body?.fault === undefined) {
      this.#body?.discard();
      this.#isPaused = false;
      this.#readHeld();
    }
    // Only now: a body that ends or fails during the write above must not end the connection before the answer has left.
    this.#isWritten = true;
    if (this.socket.writableLength === 0) this.#flushed();
    else if (!this.#hasCallback) {
      this.#isSlow = true;
      this.socket.write('', 'latin1', this.#onFlushed);
    }
  }

  /** Called when all written bytes were sent; it may be called again. */
  #flushed(): void {
    if (!this.#isWritten || this.#state !== 'serving' || this.socket.writableLength > 0) return;
    this.#readerMs = 0;
    const answer = this.#answer;
    const mayFollow = answer?.keepAlive === true && this.#mayHaveNext;
    answer?.closed(true);
    if (this.#request?.isComplete === false && this.#body?.fault === undefined) return;
    if (mayFollow && this.#request?.isComplete === true) this.#next();
    else this.#finishConnection();
  }

  #next(): void {
    this.#state = 'open';
    this.#request = undefined;
    this.#answer = undefined;
    this.#body = undefined;
    this.#asked = false;
    this.#isWritten = false;
    this.#hasCallback = false;
    this.#isPaused = false;
    this.idleSinceMs = performance.now();
    this.#waitUntil(this.idleSinceMs + this.#context.settings.keepAliveMs);
    this.#go();
    if (!this.#isTurning) this.#readRequests(this.#held.take());
  }

  /** Whether more requests may follow: the bytes that a client sent before it ended its side may contain some. */
  get #mayHaveNext(): boolean {
    return !this.#peerEnded || this.#held.length > 0;
  }

  /** Ends the connection after what is written, then discards received bytes for a moment. */
  #finishConnection(): void {
    this.#state = 'ending';
    this.#held.take();
    this.socket.end();
    this.#go();
    if (this.#peerEnded) this.#onEnd();
    else this.#waitUntil(performance.now() + lingerMs);
  }

  breakOff(reset: boolean): void {
    this.#state = 'ending';
    if (reset) {
      this.socket.resetAndDestroy();
      return;
    }
    this.socket.destroySoon();
    this.#waitUntil(performance.now() + lastWordsMs);
  }

  limitReader(idleMs: number): void {
    this.#readerMs = idleMs;
    this.#readBytes = this.#sentBytes;
    this.#waitUntil(performance.now() + idleMs);
  }

  get #sentBytes(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }

  #lookAtReader(nowMs: number): void {
    if (this.#sentBytes === this.#readBytes) {
      this.socket.destroy();
      return;
    }
    this.#readBytes = this.#sentBytes;
    this.#waitUntil(nowMs + this.#readerMs);
  }
}

let keptMs = -1;
let keptLines = '';

function keepAliveLines(keepAliveMs: number): string {
  if (keepAliveMs !== keptMs) {
    keptMs = keepAliveMs;
    keptLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  }
  return keptLines;
}
