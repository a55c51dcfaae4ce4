/** Reads a response to its end, decompressed, within a size limit. */

import { Buffer } from 'node:buffer';
import type { Answer, AnswerSink, Failure } from '../core/outcome.ts';
import { codingsOf, headerValue } from '../lib/raw-headers.ts';
import type { AnswerMemory } from './answer-memory.ts';
import { decode } from './decoding.ts';

export type Whole = { readonly body: Buffer } | { readonly failure: Failure };

/** A byte limit shared by several answers, and the memory reserved for them; short answers need no memory lease. */
export class Allowance {
  readonly bytes: number;
  readonly memory: AnswerMemory | undefined;
  leftBytes: number;

  constructor(bytes: number, memory?: AnswerMemory) {
    this.bytes = bytes;
    this.memory = memory;
    this.leftBytes = bytes;
  }
}

/** Memory for decoding is reserved in advance at this ratio of the compressed bytes, enough for nearly all honest bodies. */
const usualRatio = 16;

export async function readWhole(answer: Answer, allowance: Allowance): Promise<Whole> {
  const announced = Number(headerValue(answer.headers, 'content-length') ?? 0);
  const refusal = await allowance.memory?.begin(Math.min(announced, allowance.leftBytes));
  if (refusal !== undefined) {
    answer.cancel();
    return { failure: refusal };
  }
  const whole = await new Promise<Whole>((resolve) => {
    answer.take(new Collector(answer, allowance, resolve));
  });
  if ('failure' in whole) return whole;
  let { body } = whole;
  for (const coding of codingsOf(answer.headers)) {
    const decoded = await undo(body, coding, allowance);
    if ('failure' in decoded) return decoded;
    body = decoded.body;
  }
  return { body };
}

async function undo(encoded: Buffer, coding: string, allowance: Allowance): Promise<Whole> {
  allowance.leftBytes += encoded.length;
  const usualBytes = encoded.length * usualRatio;
  for (const ratioLimit of [usualBytes, Number.POSITIVE_INFINITY]) {
    const limitBytes = Math.max(1, Math.min(ratioLimit, allowance.leftBytes));
    const refusal = allowance.memory?.read(limitBytes);
    if (refusal !== undefined) return { failure: refusal };
    const decoded = await decode(encoded, coding, limitBytes);
    if (decoded === undefined) return { failure: unreadable(coding) };
    if (decoded === 'too-long' && limitBytes < allowance.leftBytes) continue;
    // Another answer may have been read meanwhile.
    if (decoded === 'too-long' || decoded.length > allowance.leftBytes) break;
    allowance.leftBytes -= decoded.length;
    return { body: decoded };
  }
  return { failure: tooLong(allowance) };
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
    const refusal = this.#allowance.memory?.read(chunk.length);
    if (refusal !== undefined) {
      this.#answer.cancel();
      this.#resolve({ failure: refusal });
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
