/** Searches a response chunk by chunk as it passes, and truncates it where a secret begins. */

import { Buffer } from 'node:buffer';
import type { Usage } from '../core/accounting/usage.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, Failure } from '../core/outcome.ts';
import type { NeedleSearch } from '../lib/secrets/needle-search.ts';
import { PassingAnswer } from './passing-answer.ts';
import { toLatin1 } from './secret-search.ts';

const cut: Failure = {
  code: 'upstream_protocol_error',
  message: 'The upstream answered with a credential in its answer, which is cut there. Tell the operator.',
  cause: 'the answer contains the credential of the upstream',
};

/** Where an answer is cut or breaks off, at most so many bytes of a secret's possible beginning pass: too few to matter. */
const harmlessBytes = 5;

const nothing = Buffer.alloc(0);

export class WatchedAnswer extends PassingAnswer {
  readonly #needles: NeedleSearch;
  readonly #exchange: Exchange;
  /** Held bytes at the end that may begin a secret; they pass as soon as they prove not to. */
  #kept: Buffer = nothing;
  #isCut = false;

  constructor(answer: Answer, needles: NeedleSearch, exchange: Exchange) {
    super(answer);
    this.#needles = needles;
    this.#exchange = exchange;
  }

  get countedApart(): Usage | undefined {
    return this.answer.countedApart;
  }

  override onChunk(chunk: Buffer): boolean {
    if (this.#isCut) return true;
    return this.#kept.length === 0 ? this.#pass(chunk) : this.#passOverSeam(chunk);
  }

  override onEnd(trailers: readonly string[]): void {
    if (this.#isCut) return;
    if (trailers.length > 0 && this.#needles.find(toLatin1(trailers)) !== -1) {
      this.#cut(nothing);
      return;
    }
    this.#release();
    this.sink?.onEnd(trailers);
  }

  override onBroken(failure: Failure): void {
    if (this.#isCut) return;
    if (this.#kept.length <= harmlessBytes) this.#release();
    this.sink?.onBroken(failure);
  }

  #pass(chunk: Buffer): boolean {
    const start = this.#needles.find(chunk);
    if (start !== -1) return this.#cut(chunk.subarray(0, start));
    const keptBytes = this.#needles.beginningAtEnd(chunk);
    if (keptBytes === 0) return this.handOn(chunk);
    const passing = chunk.length - keptBytes;
    this.#kept = chunk.subarray(passing);
    return this.handOn(chunk.subarray(0, passing));
  }

  /** Handles a chunk after held bytes: a secret may begin in them and end in this chunk or a later one. */
  #passOverSeam(chunk: Buffer): boolean {
    const kept = this.#kept;
    const seam = Buffer.concat([kept, chunk.subarray(0, this.#needles.longestBytes - 1)]);
    const start = this.#needles.find(seam);
    if (start !== -1) return this.#cut(seam.subarray(0, start));
    const isWhole = seam.length === kept.length + chunk.length;
    const stillStored = isWhole ? this.#needles.beginningAtEnd(seam) : 0;
    if (stillStored > chunk.length) {
      const passing = seam.length - stillStored;
      this.#kept = seam.subarray(passing);
      return this.handOn(seam.subarray(0, passing));
    }
    const isOpen = this.#release();
    return this.#pass(chunk) && isOpen;
  }

  #release(): boolean {
    const kept = this.#kept;
    this.#kept = nothing;
    return this.handOn(kept);
  }

  /** Ends the answer where a secret begins; what may be the beginning of another secret at the end of `before` is dropped too. */
  #cut(before: Buffer): true {
    const begun = this.#needles.beginningAtEnd(before);
    this.#isCut = true;
    this.#kept = nothing;
    this.#exchange.repeatedCredential = true;
    this.handOn(begun <= harmlessBytes ? before : before.subarray(0, before.length - begun));
    this.answer.cancel();
    this.sink?.onBroken(cut);
    return true;
  }
}
