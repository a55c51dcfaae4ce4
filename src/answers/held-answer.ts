/** Holds a response back until its beginning has been checked. */

import { Buffer } from 'node:buffer';
import type { Answer, AnswerSink, Failure } from '../core/outcome.ts';
import { PassingAnswer } from './passing-answer.ts';

/** How much of a response is held back; most errors fit completely. */
export const heldBytes = 256 * 1024;

export class HeldAnswer extends PassingAnswer {
  trailers: readonly string[] = [];
  /** The beginning of the body: resolves once the whole body has arrived, or as much of it as is held back. */
  readonly beginning: Promise<Buffer>;

  #resolve: ((beginning: Buffer) => void) | undefined;
  #isEnded = false;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #failure: Failure | undefined = undefined;

  constructor(answer: Answer) {
    super(answer);
    const { promise, resolve } = Promise.withResolvers<Buffer>();
    this.beginning = promise;
    this.#resolve = resolve;
    answer.take(this);
  }

  override get waiting(): readonly Buffer[] {
    return this.#waiting;
  }

  override get ended(): boolean {
    return this.#isEnded;
  }

  override get broken(): Failure | undefined {
    return this.#failure;
  }

  get isOver(): boolean {
    return this.#isEnded || this.#failure !== undefined;
  }

  override take(sink: AnswerSink): void {
    this.sink = sink;
    const open = this.#waiting.map((chunk) => sink.onChunk(chunk)).every(Boolean);
    this.#waiting = [];
    if (this.#isEnded) sink.onEnd(this.trailers);
    else if (this.#failure !== undefined) sink.onBroken(this.#failure);
    else if (open) this.resume();
  }

  onChunk(chunk: Buffer): boolean {
    if (this.sink !== undefined) return this.sink.onChunk(chunk);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes < heldBytes) return true;
    this.#show();
    return false;
  }

  onEnd(trailers: readonly string[]): void {
    this.#isEnded = true;
    this.trailers = trailers;
    this.#show();
    this.sink?.onEnd(trailers);
  }

  onBroken(failure: Failure): void {
    this.#failure = failure;
    this.#show();
    this.sink?.onBroken(failure);
  }

  /** Resolves `beginning` with the held chunks joined; later readers get the same joined chunk. */
  #show(): void {
    if (this.#resolve === undefined) return;
    const beginning = Buffer.concat(this.#waiting);
    this.#waiting = beginning.length === 0 ? [] : [beginning];
    this.#resolve(beginning);
    this.#resolve = undefined;
  }
}
