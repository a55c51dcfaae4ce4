/** Holds back a response until its beginning was checked. */

import { Buffer } from 'node:buffer';
import type { Answer, AnswerSink, Failure } from '../../core/outcome.ts';

/** Errors are short: of nearly all this is everything. */
export const heldBytes = 256 * 1024;

export class HeldAnswer implements Answer, AnswerSink {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  ended = false;
  trailers: readonly string[] = [];
  /** Settles once the whole body is here, or as much of it as is held back. */
  readonly beginning: Promise<Buffer>;

  readonly #answer: Answer;
  #resolve: ((beginning: Buffer) => void) | undefined = undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #sink: AnswerSink | undefined = undefined;
  #failure: Failure | undefined = undefined;

  constructor(answer: Answer) {
    this.status = answer.status;
    this.statusText = answer.statusText;
    this.headers = answer.headers;
    this.sentAtMs = answer.sentAtMs;
    this.firstByteAtMs = answer.firstByteAtMs;
    this.#answer = answer;
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    this.beginning = promise;
    this.#resolve = resolve;
    answer.take(this);
  }

  get waiting(): readonly Buffer[] {
    return this.#waiting;
  }

  get broken(): Failure | undefined {
    return this.#failure;
  }

  /** Nothing more will come: it has ended, or broken off. */
  get isOver(): boolean {
    return this.ended || this.#failure !== undefined;
  }

  take(sink: AnswerSink): void {
    this.#sink = sink;
    const open = this.#waiting.map((chunk) => sink.onChunk(chunk)).every(Boolean);
    this.#waiting = [];
    if (this.ended) sink.onEnd(this.trailers);
    else if (this.#failure !== undefined) sink.onBroken(this.#failure);
    else if (open) this.#answer.resume();
  }

  resume(): void {
    this.#answer.resume();
  }

  cancel(): void {
    this.#answer.cancel();
  }

  onChunk(chunk: Buffer): boolean {
    if (this.#sink !== undefined) return this.#sink.onChunk(chunk);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes < heldBytes) return true;
    this.#show();
    return false;
  }

  onEnd(trailers: readonly string[]): void {
    this.ended = true;
    this.trailers = trailers;
    this.#show();
    this.#sink?.onEnd(trailers);
  }

  onBroken(failure: Failure): void {
    this.#failure = failure;
    this.#show();
    this.#sink?.onBroken(failure);
  }

  /** In one piece, also for whoever takes it. */
  #show(): void {
    if (this.#resolve === undefined) return;
    const beginning = Buffer.concat(this.#waiting);
    this.#waiting = beginning.length === 0 ? [] : [beginning];
    this.#resolve(beginning);
    this.#resolve = undefined;
  }
}
