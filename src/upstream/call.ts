/** Makes one HTTP call to an upstream, from the first byte sent to the last byte received, under the configured timeouts. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { mayMeanExhaustion } from '../core/family.ts';
import {
  type Answer,
  type AnswerSink,
  type Call,
  type CallEnd,
  type ClientWork,
  type Failure,
  type Listening,
  misfit,
  type Outcome,
  type OutcomeWaiter,
  type Transport,
} from '../core/outcome.ts';
import type { Timeouts } from '../core/snapshot.ts';
import { codingsOf, headerValue } from '../lib/raw-headers.ts';
import type { HeadMemo } from '../wire/answer-head.ts';
import type { AnswerHandler, ClientCall } from '../wire/client-call.ts';
import type { Bucket, Timed, Wheel } from '../wire/wheel.ts';
import { beginningOf, decodedBeginning } from './answer-beginning.ts';
import type { Pools } from './connections/pools.ts';
import { EndpointCall } from './endpoints/endpoint-call.ts';
import { isStaleConnection, toFailure } from './failures.ts';

/** Bytes buffered of an answer that has no reader yet; the rest waits at the upstream. */
const untakenBytes = 256 * 1024;
/** Length up to which a body may contradict its status, such as an error with status 200; its first bytes are then checked. */
const suspiciousBytes = 16 * 1024;
/** Time after which a body that has only white space so far is passed on: the server keeps the connection open so. */
const longestSpaceMs = 1_000;
/** If a reused connection is closed this soon after the request was sent, the server has not begun to work on it; later, it may have. */
const staleWithinMs = 1_000;
/** A call that had at least this share of the total time counts as having had all of it. */
const wholeTimeShare = 0.9;

const eventStream = /^text\/event-stream\b/i;
const eventsOrText = /^(?:text\/(?:event-stream|plain|vtt|srt)|application\/x-subrip)\b/i;

export function createHttpTransport(pools: Pools): Transport {
  const begin = createCaller(pools);
  return (call) => new Promise((resolve) => begin(call, { onOutcome: resolve }));
}

/** Creates a function that makes calls and reports their outcome to a waiter, without a promise. */
export function createCaller(pools: Pools): (call: Call, waiter: OutcomeWaiter) => void {
  return (call, waiter) => {
    if (call.client.gone) {
      call.end.over(undefined);
      waiter.onOutcome({ kind: 'client-gone', unsent: true });
      return;
    }
    const { upstream, method = 'POST', path, headers, lines, body, isOnce } = call;
    const request = { method, path, headers, lines, body: method === 'POST' ? body : undefined, isOnce };
    const endpoints = upstream.endpoints === undefined ? undefined : pools.endpointsOf(upstream);
    if (endpoints !== undefined) {
      const through = new EndpointCall(endpoints, request, call.end, waiter);
      through.begin(new CallHandler({ ...call, end: through }, pools.wheel, through));
      return;
    }
    const handler = new CallHandler(call, pools.wheel, waiter);
    try {
      handler.call = pools.of(upstream).send(request, handler);
    } catch (error) {
      handler.onError(error);
    }
  };
}

class CallHandler implements AnswerHandler, Answer, ClientWork, Timed {
  call: ClientCall | undefined = undefined;
  dueMs: number;
  bucket: Bucket | undefined = undefined;
  bucketIndex = 0;

  status = 0;
  statusText = '';
  headers: readonly string[] = [];
  headMemo: HeadMemo | undefined = undefined;
  sentAtMs = 0;
  firstByteAtMs = 0;
  waiting: Buffer[] = [];
  ended = false;
  meantStatus: number | undefined = undefined;
  isLoading = false;

  /** The call's upstream. The call itself is not kept, as its body may be long and is not needed once it was sent. */
  readonly #upstream: Call['upstream'];
  readonly #client: Listening;
  readonly #end: CallEnd;
  readonly #timeouts: Timeouts;
  #waiter: OutcomeWaiter | undefined;
  #sink: AnswerSink | undefined = undefined;
  #trailers: readonly string[] = [];
  #failure: Failure | undefined = undefined;
  #started = false;
  #cancelled = false;
  #paused = false;
  #over = false;
  #untakenBytes = 0;
  /** Whether the head has arrived, and the first bytes of the body are awaited. */
  #awaitsBeginning = false;
  #form: Call['form'];
  #codings: readonly string[] = [];
  /** Whether the body is short JSON that may be an error. */
  #mayMeanError = false;
  #beganAtMs = 0;
  #decodedBytes = 0;

  readonly #totalAtMs: number;
  /** Whether this attempt had the exchange's whole time, as no earlier attempt used any. */
  readonly #hasWholeTime: boolean;
  /** When the present phase (waiting for the head, or for the next byte) times out. */
  #phaseAtMs = Number.POSITIVE_INFINITY;
  readonly #wheel: Wheel;

  constructor(call: Call, wheel: Wheel, waiter: OutcomeWaiter) {
    this.#upstream = call.upstream;
    this.#client = call.client;
    this.#end = call.end;
    this.#timeouts = call.timeouts;
    this.#form = call.form;
    this.#waiter = waiter;
    const nowMs = performance.now();
    this.#totalAtMs = Math.min(nowMs + call.timeouts.totalMs, call.deadlineMs);
    this.#hasWholeTime = this.#totalAtMs - nowMs > call.timeouts.totalMs * wholeTimeShare;
    // The wheel checks the deadlines, so that a chunk only has to update a number.
    this.#wheel = wheel;
    this.dueMs = Math.min(nowMs + this.#napMs(), this.#totalAtMs);
    wheel.add(this);
    call.client.work = this;
  }

  // Called by the connection.

  onStart(): void {
    this.#started = true;
    this.sentAtMs = performance.now();
    if (this.call?.waitsSinceMs !== undefined) this.#noteConnect(this.sentAtMs);
  }

  #noteConnect(nowMs: number): void {
    const sinceMs = this.call?.waitsSinceMs;
    if (sinceMs !== undefined) this.#client.connectMs = nowMs - sinceMs;
  }

  onSent(): void {
    if (this.firstByteAtMs !== 0) return;
    this.sentAtMs = performance.now();
    this.#phaseAtMs = this.sentAtMs + this.#timeouts.firstByteMs;
  }

  onFirstByte(atMs: number): void {
    this.firstByteAtMs = atMs;
    this.#phaseAtMs = this.firstByteAtMs + this.#timeouts.idleMs;
  }

  onHead(status: number, statusText: string, headers: readonly string[], memo: HeadMemo | undefined): void {
    this.headMemo = memo;
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
    if (this.status >= 400) {
      this.#awaitsBeginning = this.#mayHoldSign();
    } else {
      this.#mayMeanError = this.#mayBeError();
      if (!this.#hasForm()) this.#form = undefined;
      this.#awaitsBeginning = this.#mayMeanError || this.#form !== undefined;
      if (this.#awaitsBeginning) this.#codings = codingsOf(this.headers);
    }
    if (!this.#awaitsBeginning) this.#answer();
  }

  /** Whether the body must have the required form. If its type says something else, it passes: the first event of a stream may come late. */
  #hasForm(): boolean {
    if (this.status !== 200 || this.#form === undefined) return false;
    const declared = this.#form === 'json or text' ? eventsOrText : eventStream;
    return !declared.test(headerValue(this.headers, 'content-type') ?? '');
  }

  /** Whether the body must be checked for an error: only JSON that is short or of unknown length; other bodies pass as they arrive. */
  #mayBeError(): boolean {
    if (this.status !== 200 || this.#upstream.family.failureIn === undefined) return false;
    if (Number(headerValue(this.headers, 'content-length') ?? 0) > suspiciousBytes) return false;
    return /^application\/(?:[^;]*\+)?json/i.test(headerValue(this.headers, 'content-type') ?? '');
  }

  /** Whether the error's body may show its cause; such bodies are short, even if no length is announced. */
  #mayHoldSign(): boolean {
    const { signs = [], exhaustion } = this.#upstream.family;
    const isCompressed = headerValue(this.headers, 'content-encoding') !== undefined;
    const isSign = !isCompressed && signs.some(({ status }) => status === this.status);
    if (!isSign && (exhaustion === undefined || !mayMeanExhaustion(this.status))) return false;
    return Number(headerValue(this.headers, 'content-length') ?? 0) <= suspiciousBytes;
  }

  /** Reads the beginning of a body that must be checked, and passes the answer on once its form is clear. */
  #lookAtBeginning(isWhole: boolean): void {
    const [only] = this.waiting;
    const beginning = this.waiting.length === 1 && only !== undefined ? only : Buffer.concat(this.waiting);
    const isClear = this.status >= 400 ? this.#readSign(beginning, isWhole) : this.#readGood(beginning, isWhole);
    if (isClear) this.#answer();
  }

  #readGood(beginning: Buffer, isWhole: boolean): boolean {
    const { length } = beginning;
    // A body that arrives byte by byte is not decoded again at each byte.
    if (this.#codings.length > 0 && !isWhole && length < 2 * this.#decodedBytes && !this.#isLate) return false;
    this.#decodedBytes = length;
    const plain = decodedBeginning(beginning, this.#codings);
    return this.#readForm(plain, length, isWhole) && this.#readError(plain, length, isWhole);
  }

  #readForm(plain: Buffer | undefined, receivedBytes: number, isWhole: boolean): boolean {
    if (this.#form === undefined) return true;
    const found = beginningOf(plain, receivedBytes, isWhole, this.#form);
    if (found === 'unclear' && !this.#isLate) return false;
    this.#form = undefined;
    if (typeof found === 'string') return true;
    this.#refuse(misfit(found.misfit));
    return false;
  }

  get #isLate(): boolean {
    return performance.now() - this.#beganAtMs > longestSpaceMs;
  }

  /** Refuses an answer of the wrong form. A short one is read to its end, so that its connection can be used again. */
  #refuse(failure: Failure): void {
    this.#awaitsBeginning = false;
    this.waiting = [];
    this.#sink = new Waste(this);
    this.#report({ kind: 'unknown', failure });
    if (Number(headerValue(this.headers, 'content-length') ?? 0) > suspiciousBytes) this.cancel();
  }

  #readError(plain: Buffer | undefined, receivedBytes: number, isWhole: boolean): boolean {
    if (!this.#mayMeanError) return true;
    const meant = plain && this.#upstream.family.failureIn?.(plain, isWhole);
    if (meant !== 'unclear') this.meantStatus = meant;
    return meant !== 'unclear' || receivedBytes > suspiciousBytes || this.#isLate;
  }

  #readSign(beginning: Buffer, isWhole: boolean): boolean {
    const { signs = [] } = this.#upstream.family;
    const sign = signs.find(({ status, contains }) => status === this.status && beginning.includes(contains));
    if (sign === undefined) return isWhole || beginning.length > suspiciousBytes;
    if (sign.means === 'loading') this.isLoading = true;
    else this.meantStatus = sign.means;
    return true;
  }

  #answer(): void {
    this.#awaitsBeginning = false;
    this.#report({ kind: 'answered', answer: this });
  }

  /** Reports the outcome; only the first report has an effect. */
  #report(outcome: Outcome): void {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    waiter?.onOutcome(outcome);
  }

  onBody(piece: Buffer, nowMs: number): void {
    this.#phaseAtMs = nowMs + this.#timeouts.idleMs;
    if (this.#sink === undefined) {
      if (this.waiting.length === 0) this.waiting = [piece];
      else this.waiting.push(piece);
      this.#untakenBytes += piece.length;
      if (this.#beganAtMs === 0) this.#beganAtMs = nowMs;
      if (this.#untakenBytes > untakenBytes) this.#pause();
      if (this.#awaitsBeginning) this.#lookAtBeginning(false);
      return;
    }
    if (!this.#sink.onChunk(piece)) this.#pause();
  }

  #pause(): void {
    this.#paused = true;
    this.call?.pause();
  }

  onEnd(trailers: readonly string[]): void {
    this.#finish();
    this.ended = true;
    this.#trailers = trailers;
    if (this.#awaitsBeginning) this.#lookAtBeginning(true);
    this.#sink?.onEnd(this.#trailers);
  }

  onError(error: unknown): void {
    this.#break(this.#toFailure(error));
  }

  #break(failure: Failure): void {
    if (!this.#started) this.#noteConnect(performance.now());
    this.#failure = failure;
    this.#finish(this.status === 0 ? undefined : failure);
    if (this.#awaitsBeginning) this.#answer();
    if (this.#waiter === undefined) {
      this.#sink?.onBroken(failure);
      return;
    }
    this.#report({ kind: this.#started ? 'unknown' : 'not-sent', failure });
  }

  #toFailure(error: unknown): Failure {
    const failure = toFailure(error, this.#started);
    if (this.firstByteAtMs !== 0 || !isStaleConnection(error)) return failure;
    return performance.now() - this.sentAtMs < staleWithinMs ? { ...failure, stale: true } : failure;
  }

  // Called by the relay.

  get broken(): Failure | undefined {
    return this.#failure;
  }

  take(sink: AnswerSink): void {
    this.#sink = sink;
    const waiting = this.waiting;
    const wasPaused = this.#paused;
    this.waiting = [];
    this.#paused = false;
    for (const chunk of waiting) {
      if (!sink.onChunk(chunk)) this.#paused = true;
    }
    if (this.ended) sink.onEnd(this.#trailers);
    else if (this.#failure !== undefined) sink.onBroken(this.#failure);
    else if (this.#paused && !wasPaused) this.call?.pause();
    else if (wasPaused && !this.#paused) this.call?.resume();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#phaseAtMs = performance.now() + this.#timeouts.idleMs;
    this.call?.resume();
  }

  clientLeft(): void {
    this.cancel();
  }

  cancel(): void {
    if (this.#over || this.#cancelled) return;
    this.#cancelled = true;
    if (!this.#started) this.#noteConnect(performance.now());
    this.call?.abort();
    this.#finish();
    this.#report(this.#started ? this.#abandoned() : { kind: 'client-gone', unsent: true });
  }

  #abandoned(): Outcome {
    if (this.#client.gone) return { kind: 'client-gone' };
    return { kind: 'unknown', failure: toFailure(new Error('cancelled'), true) };
  }

  /** Ends the call if a deadline has passed, else waits for the next one. */
  onDue(nowMs: number): void {
    // If the relay paused the reading, the upstream is not silent.
    if (this.#paused) this.#phaseAtMs = nowMs + this.#timeouts.idleMs;
    const dueMs = Math.min(this.#phaseAtMs, this.#totalAtMs);
    if (dueMs > nowMs) {
      this.dueMs = Math.min(dueMs, nowMs + this.#napMs());
      this.#wheel.add(this);
      return;
    }
    this.call?.abort();
    this.#break(this.#timeoutFailure(nowMs));
  }

  /** The longest time to the next check, because a phase that has not begun yet may end before any deadline that is known now. */
  #napMs(): number {
    const { firstByteMs, idleMs } = this.#timeouts;
    return this.firstByteAtMs === 0 ? Math.min(firstByteMs, idleMs) : Number.POSITIVE_INFINITY;
  }

  /** Whether a timeout of the total time is not the upstream's fault: its answer was arriving, or the call began late. */
  get #isOurs(): boolean {
    return this.status !== 0 || !this.#hasWholeTime;
  }

  #timeoutFailure(nowMs: number): Failure {
    const { totalMs, firstByteMs, idleMs } = this.#timeouts;
    const isTotal = nowMs >= this.#totalAtMs;
    const [name, limitMs, what] = isTotal
      ? (['total', totalMs, 'the whole request'] as const)
      : this.firstByteAtMs === 0
        ? (['first_byte', firstByteMs, 'the first byte of an answer'] as const)
        : (['idle', idleMs, 'the next byte of its answer'] as const);
    return {
      code: 'upstream_timeout',
      message: `The upstream took longer than ${limitMs / 1000} s for ${what} (timeouts.${name}); try again later.`,
      cause: `${name} timeout`,
      ...(isTotal && this.#isOurs && { ours: true }),
    };
  }

  #finish(broken?: Failure): void {
    if (this.#over) return;
    this.#over = true;
    this.#wheel.remove(this);
    this.#end.over(broken);
  }
}

/** Discards a body that is not needed, as long as it is short. */
class Waste implements AnswerSink {
  readonly #call: CallHandler;
  #leftBytes = suspiciousBytes;

  constructor(call: CallHandler) {
    this.#call = call;
  }

  onChunk(chunk: Buffer): boolean {
    this.#leftBytes -= chunk.length;
    if (this.#leftBytes < 0) this.#call.cancel();
    return true;
  }

  onEnd(): void {}

  onBroken(): void {}
}
