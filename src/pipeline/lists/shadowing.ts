/** Copies a good response while it passes to the client, to compare it with the response of the model's shadow. */

import { Buffer } from 'node:buffer';
import { decodeAll } from '../../answers/decoding.ts';
import { PassingAnswer } from '../../answers/passing-answer.ts';
import type { Drift } from '../../core/drift.ts';
import type { Answer, Failure } from '../../core/outcome.ts';
import { codingsOf } from '../../lib/raw-headers.ts';
import type { Plan } from '../../plan/planned-call.ts';

const mostComparedBytes = 8 * 1024 * 1024;

/** Returns the answer, which is copied while it is read; or the answer itself where nothing is compared. */
export function shadowed(plan: Plan, answer: Answer, drift: Drift): Answer {
  const isGood = (answer.meantStatus ?? answer.status) < 300;
  return isGood && drift.isShadowed(plan.exchange) ? new CopiedAnswer(answer, plan, drift) : answer;
}

class CopiedAnswer extends PassingAnswer {
  readonly ignored: readonly string[] | undefined;
  readonly #plan: Plan;
  readonly #drift: Drift;
  readonly #body: Buffer;
  #chunks: Buffer[] | undefined = [];
  #bytes = 0;

  constructor(answer: Answer, plan: Plan, drift: Drift) {
    super(answer);
    this.ignored = answer.ignored;
    this.#plan = plan;
    this.#drift = drift;
    this.#body = plan.question.body;
  }

  get countedApart(): Answer['countedApart'] {
    return this.answer.countedApart;
  }

  override onChunk(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > mostComparedBytes) this.#chunks = undefined;
    this.#chunks?.push(chunk);
    return this.handOn(chunk);
  }

  override onEnd(trailers: readonly string[]): void {
    this.sink?.onEnd(trailers);
    if (this.#chunks !== undefined) void this.#compare(Buffer.concat(this.#chunks));
  }

  override onBroken(failure: Failure): void {
    this.sink?.onBroken(failure);
  }

  async #compare(bytes: Buffer): Promise<void> {
    const decoded = await decodeAll(bytes, codingsOf(this.headers), mostComparedBytes);
    if (decoded !== undefined) this.#drift.compare(this.#plan.exchange, this.#body, decoded);
  }
}
