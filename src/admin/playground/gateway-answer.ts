/** An answer whose body is read as it comes. */

import type { UnderlyingByteSource } from 'node:stream/web';
import type { AnswerHandler, ClientCall, ClientRequest } from '../../wire/client-call.ts';
import type { ClientPool } from '../../wire/client-pool.ts';

export interface GatewayAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Whoever cancels it ends the call. */
  readonly body: ReadableStream<Uint8Array>;
}

/** Resolves when the head is here; rejects where none comes, or the signal says so, which ends the body as well. */
export function askGateway(pool: ClientPool, request: ClientRequest, signal: AbortSignal): Promise<GatewayAnswer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    new Asking(signal, resolve, reject).send(pool, request);
  });
}

class Asking implements AnswerHandler, UnderlyingByteSource {
  readonly type = 'bytes';
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: GatewayAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #call: ClientCall | undefined = undefined;
  #body: ReadableByteStreamController | undefined = undefined;

  constructor(signal: AbortSignal, resolve: (answer: GatewayAnswer) => void, reject: (error: unknown) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(pool: ClientPool, request: ClientRequest): void {
    this.#call = pool.send(request, this);
    this.#signal.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#call?.abort();
    this.onError(this.#signal.reason);
  };

  #settle(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  // What the connection tells.

  onStart(): void {}

  onSent(): void {}

  onFirstByte(): void {}

  onHead(status: number, _statusText: string, headers: readonly string[]): void {
    this.#resolve({ status, headers, body: new ReadableStream(this) });
  }

  onBody(piece: Buffer): void {
    // What is handed over belongs to the stream, and this may be a part of something larger.
    this.#body?.enqueue(new Uint8Array(piece));
    if ((this.#body?.desiredSize ?? 0) <= 0) this.#call?.pause();
  }

  onEnd(): void {
    this.#settle();
    this.#body?.close();
    this.#body?.byobRequest?.respond(0);
  }

  onError(error: unknown): void {
    this.#settle();
    this.#body?.error(error);
    this.#reject(error);
  }

  // What the stream asks.

  start(body: ReadableByteStreamController): void {
    this.#body = body;
  }

  pull(): void {
    this.#call?.resume();
  }

  cancel(): void {
    this.#settle();
    this.#call?.abort();
  }
}
