/** Answers calls inside this process, for families that need no network. */

import { Buffer } from 'node:buffer';
import { STATUS_CODES } from 'node:http';
import { performance } from 'node:perf_hooks';
import { inOnePiece } from '../core/call-body.ts';
import type { MadeAnswer } from '../core/family.ts';
import type { Answer, AnswerSink, Call, CallEnd, Failure, Outcome, Transport } from '../core/outcome.ts';
import { traceOf } from '../lib/thrown.ts';

export const inProcessTransport: Transport = async (call: Call): Promise<Outcome> => {
  const { make } = call.offer;
  if (make === undefined) throw new TypeError(`family ${call.upstream.family.id} makes no answers of its own`);
  if (call.client.gone) return over(call, { kind: 'client-gone' });
  const sentAtMs = performance.now();
  const leaving = new AbortController();
  call.client.work = { clientLeft: () => leaving.abort() };
  try {
    const made = await make(inOnePiece(call.body), leaving.signal);
    if (leaving.signal.aborted) return over(call, { kind: 'client-gone' });
    const answered: Outcome = { kind: 'answered', answer: new InProcessAnswer(made, sentAtMs, leaving, call.end) };
    return Buffer.isBuffer(made.body) ? over(call, answered) : answered;
  } catch (error) {
    return over(
      call,
      leaving.signal.aborted ? { kind: 'client-gone' } : { kind: 'unknown', failure: toFailure(error) },
    );
  }
};

function over({ end }: Call, outcome: Outcome): Outcome {
  end.over(undefined);
  return outcome;
}

class InProcessAnswer implements Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  readonly waiting: readonly Buffer[];
  readonly ended: boolean;
  readonly broken = undefined;
  readonly ignored: readonly string[] | undefined;

  readonly #body: MadeAnswer['body'];
  readonly #leaving: AbortController;
  readonly #end: CallEnd;
  #taken = false;
  #wake: (() => void) | undefined = undefined;

  constructor(made: MadeAnswer, sentAtMs: number, leaving: AbortController, end: CallEnd) {
    const whole = Buffer.isBuffer(made.body) ? made.body : undefined;
    this.status = made.status;
    this.statusText = STATUS_CODES[made.status] ?? '';
    this.headers = [...made.headers.flat(), ...(whole === undefined ? [] : ['content-length', String(whole.length)])];
    this.sentAtMs = sentAtMs;
    this.firstByteAtMs = performance.now();
    this.waiting = whole === undefined ? [] : [whole];
    this.ended = whole !== undefined;
    this.ignored = made.ignored;
    this.#body = made.body;
    this.#leaving = leaving;
    this.#end = end;
  }

  take(sink: AnswerSink): void {
    this.#taken = true;
    if (!Buffer.isBuffer(this.#body)) {
      void this.#pump(this.#body, sink);
      return;
    }
    sink.onChunk(this.#body);
    sink.onEnd([]);
  }

  resume(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  cancel(): void {
    this.#leaving.abort();
    this.resume();
    if (!this.#taken && !this.ended) this.#end.over(undefined);
  }

  async #pump(parts: AsyncIterable<Buffer>, sink: AnswerSink): Promise<void> {
    const { signal } = this.#leaving;
    try {
      for await (const part of parts) {
        if (signal.aborted) return;
        if (sink.onChunk(part)) continue;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
      if (!signal.aborted) sink.onEnd([]);
    } catch (error) {
      if (!signal.aborted) sink.onBroken(toFailure(error));
    } finally {
      this.#end.over(undefined);
    }
  }
}

function toFailure(error: unknown): Failure {
  return {
    code: 'internal_error',
    message: 'The built-in upstream failed; tell the operator the request ID.',
    cause: traceOf(error),
  };
}
