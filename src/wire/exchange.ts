/** Makes a small request of the gateway itself: one attempt, limited in time and size, with the complete response. */

import { Buffer } from 'node:buffer';
import type { AnswerHandler, ClientCall, ClientRequest } from './client-call.ts';
import type { ClientPool } from './client-pool.ts';

export interface SmallAnswer {
  readonly status: number;
  /** Names and values alternately, as received. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

interface ExchangeOptions {
  readonly limitBytes: number;
  /** What happens with a longer body: `cut` returns its beginning, `fail` rejects. */
  readonly beyond: 'cut' | 'fail';
  /** Limit of the time to the last byte of the answer. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export class ExchangeTimeoutError extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ERR_ANSWER_TIMEOUT';
}

class LongAnswerError extends Error {
  override readonly name = 'LongAnswerError';
  readonly code = 'ERR_ANSWER_TOO_LONG';
}

/** Makes the request. Rejects with the error of the connection, or with the reason of the signal. */
export function exchange(pool: ClientPool, request: ClientRequest, options: ExchangeOptions): Promise<SmallAnswer> {
  return new Promise((resolve, reject) => {
    options.signal?.throwIfAborted();
    new Exchange(options, resolve, reject).send(pool, request);
  });
}

class Exchange implements AnswerHandler {
  readonly #options: ExchangeOptions;
  readonly #resolve: (answer: SmallAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #call: ClientCall | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #status = 0;
  #headers: readonly string[] = [];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(options: ExchangeOptions, resolve: (answer: SmallAnswer) => void, reject: (error: unknown) => void) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  send(pool: ClientPool, request: ClientRequest): void {
    const { timeoutMs, signal } = this.#options;
    this.#call = pool.send(request, this);
    signal?.addEventListener('abort', this.#onAbort);
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#giveUp(new ExchangeTimeoutError(`no whole answer within ${timeoutMs} ms`));
    }, timeoutMs);
  }

  readonly #onAbort = (): void => this.#giveUp(this.#options.signal?.reason);

  #giveUp(error: unknown): void {
    this.#call?.abort();
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }

  onStart(): void {}

  onSent(): void {}

  onFirstByte(): void {}

  onHead(status: number, _statusText: string, headers: readonly string[]): void {
    this.#status = status;
    this.#headers = headers;
  }

  onBody(piece: Buffer): void {
    const { limitBytes, beyond } = this.#options;
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes <= limitBytes) return;
    if (beyond === 'fail') {
      this.#giveUp(new LongAnswerError(`the answer is longer than ${limitBytes} bytes`));
      return;
    }
    this.#call?.abort();
    this.onEnd();
  }

  onEnd(): void {
    this.#settle();
    this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#pieces) });
  }

  onError(error: Error): void {
    this.#settle();
    this.#reject(error);
  }
}
