/** Discards a response that no client gets: reads a short one to its end, so that the connection can be reused. */

import type { Buffer } from 'node:buffer';
import type { Answer, AnswerSink } from '../core/outcome.ts';

const worthReadingBytes = 64 * 1024;
const worthWaitingMs = 1_000;

export function discard(answer: Answer): void {
  answer.take(new Waste(answer));
}

class Waste implements AnswerSink {
  readonly #answer: Answer;
  readonly #timer: NodeJS.Timeout;
  #leftBytes = worthReadingBytes;

  constructor(answer: Answer) {
    this.#answer = answer;
    this.#timer = setTimeout(cancel, worthWaitingMs, answer).unref();
  }

  onChunk(chunk: Buffer): boolean {
    this.#leftBytes -= chunk.length;
    if (this.#leftBytes < 0) this.#answer.cancel();
    return true;
  }

  onEnd(): void {
    clearTimeout(this.#timer);
  }

  onBroken(): void {
    clearTimeout(this.#timer);
  }
}

function cancel(answer: Answer): void {
  answer.cancel();
}
