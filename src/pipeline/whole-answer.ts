/** Reads an answer to its end, decoded, as far as it may be long. */

import type { Answer, AnswerSink, Failure } from '../core/outcome.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { codingsOf, decode } from './decoding.ts';

export type Whole = { readonly body: Buffer } | { readonly failure: Failure };

/** How much may be read, of all the answers that share it. */
export class Allowance {
  readonly bytes: number;
  leftBytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
    this.leftBytes = bytes;
  }
}

export async function readWhole(answer: Answer, allowance: Allowance): Promise<Whole> {
  const whole = await new Promise<Whole>((resolve) => {
    answer.take(new Collector(answer, allowance, resolve));
  });
  if ('failure' in whole) return whole;
  let { body } = whole;
  for (const coding of codingsOf(headerValue(answer.headers, 'content-encoding'))) {
    allowance.leftBytes += body.length;
    const decoded = await decode(body, coding, Math.max(1, allowance.leftBytes));
    if (decoded === undefined) return { failure: unreadable(coding) };
    // Another answer may have been read meanwhile.
    if (decoded === 'too-long' || decoded.length > allowance.leftBytes) return { failure: tooLong(allowance) };
    allowance.leftBytes -= decoded.length;
    body = decoded;
  }
  return { body };
}

class Collector implements AnswerSink {
  readonly #answer: Answer;
  readonly #allowance: Allowance;
  readonly #resolve: (whole: Whole) => void;
  readonly #chunks: Buffer[] = [];

  constructor(answer: Answer, allowance: Allowance, resolve: (whole: Whole) => void) {
    this.#answer = answer;
    this.#allowance = allowance;
    this.#resolve = resolve;
  }

  onChunk(chunk: Buffer): boolean {
    this.#allowance.leftBytes -= chunk.length;
    if (this.#allowance.leftBytes < 0) {
      this.#answer.cancel();
      this.#resolve({ failure: tooLong(this.#allowance) });
      return false;
    }
    this.#chunks.push(chunk);
    return true;
  }

  onEnd(): void {
    this.#resolve({ body: Buffer.concat(this.#chunks) });
  }

  onBroken(failure: Failure): void {
    this.#resolve({ failure });
  }
}

function tooLong({ bytes }: Allowance): Failure {
  return {
    code: 'upstream_protocol_error',
    message: `The upstream's answer is over ${bytes} bytes, more than is read to be translated (upstreams[].answer_limit); ask for less, or tell the operator.`,
    cause: 'the answer is over the limit',
    ours: true,
  };
}

function unreadable(coding: string): Failure {
  return {
    code: 'upstream_protocol_error',
    message: `The upstream's answer is not what its Content-Encoding (${coding.slice(0, 20)}) says; tell the operator.`,
    cause: 'the answer cannot be decoded',
    unfit: true,
  };
}
