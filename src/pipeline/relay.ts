/** Passes an answer on as it comes: head, chunks under back-pressure, trailers. What breaks stays visibly broken. */

import type { ServerResponse } from 'node:http';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, AnswerSink, ClientWork, Failure } from '../core/outcome.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { clientHeaders, clientTrailers, type Framing } from './headers.ts';
import { createUsageObserver, type UsageObserver } from './usage.ts';

/** How long a reader may take for what was already written when the upstream broke off. */
const lastWordsMs = 10_000;

const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

/** Resolves when the whole answer was handed to the client's socket, or can no longer be. */
export function relay(
  exchange: Exchange,
  answer: Answer,
  response: ServerResponse,
  ownHeaders: readonly string[],
): Promise<UsageObserver> {
  return new Promise((resolve) => {
    new Relay(exchange, answer, response, resolve).start(ownHeaders);
  });
}

class Relay implements AnswerSink, ClientWork {
  readonly #exchange: Exchange;
  readonly #answer: Answer;
  readonly #response: ServerResponse;
  readonly #resolve: (observer: UsageObserver) => void;
  readonly #observer: UsageObserver;
  readonly #lengthBytes: number | undefined;
  readonly #framing: Framing;

  constructor(
    exchange: Exchange,
    answer: Answer,
    response: ServerResponse,
    resolve: (observer: UsageObserver) => void,
  ) {
    this.#exchange = exchange;
    this.#answer = answer;
    this.#response = response;
    this.#resolve = resolve;
    this.#observer = createUsageObserver(
      answer.status < 400 ? headerValue(answer.headers, 'content-type') : undefined,
      headerValue(answer.headers, 'content-encoding'),
    );
    this.#lengthBytes = announcedLength(answer);
    this.#framing = framingOf(answer, this.#lengthBytes, response);
  }

  start(ownHeaders: readonly string[]): void {
    const headers = clientHeaders(this.#answer.headers, this.#framing);
    headers.push(...ownHeaders);
    writeHead(this.#response, this.#answer, headers);
    this.#exchange.status = this.#answer.status;
    this.#exchange.client.work = this;
    this.#answer.take(this);
    // The first event of a stream may be far off; its reader waits for the head.
    if (this.#exchange.responseBytes === 0 && !this.#response.writableEnded) this.#response.flushHeaders();
  }

  onChunk(chunk: Buffer): boolean {
    this.#observer.push(chunk);
    this.#exchange.responseBytes += chunk.length;
    if (this.#exchange.responseBytes === this.#lengthBytes) {
      // The last byte is here: head, body and end leave in one write.
      this.#response.end(chunk);
      return true;
    }
    if (this.#response.write(chunk)) return true;
    this.#response.once('drain', () => this.#answer.resume());
    return false;
  }

  onEnd(trailers: readonly string[]): void {
    if (trailers.length > 0) this.#response.addTrailers(clientTrailers(trailers));
    if (!this.#response.writableEnded) this.#response.end();
    this.#finish();
  }

  onBroken(failure: Failure): void {
    this.#exchange.errorCode = failure.code;
    this.#exchange.errorCause = failure.cause;
    if (!this.#response.writableEnded) {
      this.#exchange.cut = true;
      cut(this.#response, this.#framing === 'none');
    }
    this.#finish();
  }

  clientLeft(): void {
    this.#exchange.errorCode = 'client_closed';
    this.#answer.cancel();
    this.#finish();
  }

  #finish(): void {
    this.#exchange.client.work = undefined;
    this.#resolve(this.#observer);
  }
}

function hasNoBody({ status }: Answer): boolean {
  return status === 204 || status === 304;
}

function framingOf(answer: Answer, lengthBytes: number | undefined, { req }: ServerResponse): Framing {
  if (lengthBytes !== undefined) return 'length';
  return hasNoBody(answer) || req.httpVersionMinor === 0 ? 'none' : 'chunked';
}

/** The length that the client can hold us to; none where the status allows no body. */
function announcedLength(answer: Answer): number | undefined {
  if (hasNoBody(answer)) return undefined;
  const announced = headerValue(answer.headers, 'content-length');
  return announced === undefined ? undefined : Number(announced);
}

function writeHead(response: ServerResponse, answer: Answer, headers: string[]): void {
  response.sendDate = false;
  // Set where the answer depends on who asks (see cors.ts); it stands beside what the upstream's answer depends on.
  const vary = response.getHeader('vary');
  if (typeof vary === 'string') headers.push('vary', vary);
  response.writeHead(answer.status, unwritable.test(answer.statusText) ? '' : answer.statusText, headers);
}

/** Head is out: a proper end would make half an answer look whole. What was written still leaves; then the socket breaks. */
function cut(response: ServerResponse, endsWithConnection: boolean): void {
  const { socket } = response;
  if (socket === null) {
    // The answer to an earlier request has the connection; this one gets it next, and writes out what came of it.
    response.once('socket', () => setImmediate(cut, response, endsWithConnection));
    return;
  }
  response.flushHeaders();
  if (endsWithConnection) {
    // Where the end of the connection is the end of the body, only a reset tells the two apart.
    socket.resetAndDestroy();
    return;
  }
  // What was written a moment ago would wait for the end of the tick, and be lost.
  if (response.writableCorked > 0) response.uncork();
  socket.destroySoon();
  setTimeout(() => socket.destroy(), lastWordsMs).unref();
}
