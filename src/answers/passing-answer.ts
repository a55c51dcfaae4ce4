/** Base class of responses that are inspected while they pass to the client. */

import type { Buffer } from 'node:buffer';
import type { Answer, AnswerSink, Failure } from '../core/outcome.ts';
import type { Translated } from '../core/translation.ts';

export abstract class PassingAnswer implements Answer, AnswerSink {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  readonly meantStatus: number | undefined;

  protected readonly answer: Answer;
  protected sink: AnswerSink | undefined = undefined;

  constructor(answer: Answer, headers: readonly string[] = answer.headers) {
    this.status = answer.status;
    this.statusText = answer.statusText;
    this.headers = headers;
    this.sentAtMs = answer.sentAtMs;
    this.firstByteAtMs = answer.firstByteAtMs;
    this.meantStatus = answer.meantStatus;
    this.answer = answer;
  }

  get waiting(): readonly Buffer[] {
    return this.answer.waiting;
  }

  get ended(): boolean {
    return this.answer.ended;
  }

  get broken(): Failure | undefined {
    return this.answer.broken;
  }

  get translated(): Translated | undefined {
    return this.answer.translated;
  }

  take(sink: AnswerSink): void {
    this.sink = sink;
    this.answer.take(this);
  }

  resume(): void {
    this.answer.resume();
  }

  cancel(): void {
    this.answer.cancel();
  }

  abstract onChunk(chunk: Buffer): boolean;

  abstract onEnd(trailers: readonly string[]): void;

  abstract onBroken(failure: Failure): void;

  protected handOn(bytes: Buffer): boolean {
    return bytes.length === 0 || this.sink?.onChunk(bytes) !== false;
  }
}
