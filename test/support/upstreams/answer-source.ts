/** An upstream response that arrives in pieces, and a client that reads one. */

import assert from 'node:assert/strict';
import type { Answer, AnswerSink, Failure } from '../../../src/core/outcome.ts';

/** An upstream's answer that comes as the test wants it to. */
export class Source implements Answer {
  readonly status = 200;
  readonly statusText = 'OK';
  readonly headers = ['Content-Type', 'text/event-stream; charset=utf-8', 'Content-Length', '9', 'X-Own', 'kept'];
  readonly sentAtMs = 1;
  readonly firstByteAtMs = 2;
  readonly waiting: Buffer[] = [];
  readonly ended = false;
  broken: Failure | undefined = undefined;
  isCancelled = false;
  resumes = 0;
  sink: AnswerSink | undefined = undefined;

  take(sink: AnswerSink): void {
    this.sink = sink;
  }

  resume(): void {
    this.resumes += 1;
  }

  cancel(): void {
    this.isCancelled = true;
  }

  send(...pieces: (string | Buffer)[]): boolean[] {
    return pieces.map((piece) => this.sink?.onChunk(Buffer.from(piece)) ?? assert.fail('nobody listens'));
  }

  end(trailers: readonly string[] = []): void {
    this.sink?.onEnd(trailers);
  }
}

/** What it was given, and how it ended. */
export class Client implements AnswerSink {
  text = '';
  isOpen = true;
  endings = 0;
  failure: Failure | undefined = undefined;

  onChunk(chunk: Buffer): boolean {
    assert.equal(this.endings, 0);
    this.text += chunk.toString();
    return this.isOpen;
  }

  onEnd(): void {
    this.endings += 1;
  }

  onBroken(failure: Failure): void {
    this.endings += 1;
    this.failure = failure;
  }
}
