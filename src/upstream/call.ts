/** One HTTP call to an upstream, from the first byte sent to the last byte received, under the contract's timeouts. */

import type { Dispatcher } from 'undici';
import { lengthOf, wholeBodyBytes } from '../core/call-body.ts';
import type {
  Answer,
  AnswerSink,
  Call,
  CallEnd,
  ClientWork,
  Failure,
  Listening,
  Outcome,
  Transport,
} from '../core/outcome.ts';
import type { Timeouts } from '../core/snapshot.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { isStaleConnection, notHttp, toFailure } from './failures.ts';
import type { Pools } from './pools.ts';

/** So that "the last byte sent" of a long body is known and not just handed to the kernel. */
const sliceBytes = 64 * 1024;
/** What is kept of an answer that nobody has taken yet; the rest waits at the upstream. */
const untakenBytes = 256 * 1024;
/** A body that is announced to be this short may mean something else than its status, which its first bytes tell. */
const suspiciousBytes = 16 * 1024;
/** Who closes an idle connection has not begun to work on what was put on it; later than this, it may have. */
const staleWithinMs = 1_000;
/** A call with so much of its own total time had it all, but for what it took to get here. */
const wholeTimeShare = 0.9;

export function createHttpTransport(pools: Pools): Transport {
  return (call) =>
    new Promise((resolve) => {
      if (call.client.gone) {
        call.end.over(undefined);
        resolve({ kind: 'client-gone', unsent: true });
        return;
      }
      const handler = new CallHandler(call, resolve);
      const { body } = call;
      const isWhole = Buffer.isBuffer(body) && body.length <= wholeBodyBytes;
      if (!isWhole) call.headers.push('content-length', String(lengthOf(body)));
      try {
        pools.of(call.upstream).dispatch(
          {
            path: call.path,
            method: 'POST',
            headers: call.headers,
            body: isWhole ? body : toSlices(Buffer.isBuffer(body) ? [body] : body),
          } as Dispatcher.DispatchOptions, // its type forgets that a body may be any iterable
          handler,
        );
      } catch (error) {
        handler.onResponseError(null, error);
      }
    });
}

function* toSlices(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += sliceBytes) yield piece.subarray(start, start + sliceBytes);
  }
}

class CallHandler implements Dispatcher.DispatchHandler, Answer, ClientWork {
  status = 0;
  statusText = '';
  headers: readonly string[] = [];
  sentAtMs = 0;
  firstByteAtMs = 0;
  waiting: Buffer[] = [];
  ended = false;
  meantStatus: number | undefined = undefined;
  isLoading = false;

  /** Of the call without its body, which may be long and is needed no more once it was sent. */
  readonly #upstream: Call['upstream'];
  readonly #client: Listening;
  readonly #end: CallEnd;
  readonly #timeouts: Timeouts;
  #resolve: ((outcome: Outcome) => void) | undefined;
  #controller: Dispatcher.DispatchController | null = null;
  #sink: AnswerSink | undefined = undefined;
  #trailers: readonly string[] = [];
  #failure: Failure | undefined = undefined;
  #started = false;
  #cancelled = false;
  #paused = false;
  #over = false;
  #untakenBytes = 0;
  /** The head is here, and the first bytes of the body are waited for. */
  #awaitsBeginning = false;

  readonly #totalAtMs: number;
  /** Those who came before it in the exchange took none of it. */
  readonly #hasWholeTime: boolean;
  /** When the present phase (waiting for the head, or for the next byte) has taken too long. */
  #phaseAtMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout;

  constructor(call: Call, resolve: (outcome: Outcome) => void) {
    this.#upstream = call.upstream;
    this.#client = call.client;
    this.#end = call.end;
    this.#timeouts = call.timeouts;
    this.#resolve = resolve;
    const nowMs = performance.now();
    this.#totalAtMs = Math.min(nowMs + call.timeouts.totalMs, call.deadlineMs);
    this.#hasWholeTime = this.#totalAtMs - nowMs > call.timeouts.totalMs * wholeTimeShare;
    // One timer a call: it looks at the deadlines when it fires, so that a chunk only has to move a number.
    const napMs = Math.min(this.#napMs(), this.#totalAtMs - nowMs);
    this.#timer = setTimeout(lookAtClock, Math.max(0, Math.ceil(napMs)), this);
    call.client.work = this;
  }

  // What the connection pool tells.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#started = true;
    this.sentAtMs = performance.now();
    if (this.#cancelled) controller.abort(new Error('cancelled'));
  }

  onRequestSent(): void {
    if (this.firstByteAtMs !== 0) return;
    this.sentAtMs = performance.now();
    this.#phaseAtMs = this.sentAtMs + this.#timeouts.firstByteMs;
  }

  onResponseStarted(): void {
    this.firstByteAtMs = performance.now();
    this.#phaseAtMs = this.firstByteAtMs + this.#timeouts.idleMs;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _parsed: unknown,
    statusText: string | undefined,
  ): void {
    if (status < 200) {
      // The others never come this far (see interim.ts); after a 101 would follow what is no HTTP.
      this.#fail({ ...notHttp, cause: `status ${status}` });
      return;
    }
    this.status = status;
    this.statusText = toStatusText(statusText ?? '');
    this.headers = toText(controller.rawHeaders);
    if (this.status >= 400 ? this.#mayHoldSign() : this.#mayBeError()) this.#awaitsBeginning = true;
    else this.#answer();
  }

  /** Only short JSON bodies: the others pass as they come. */
  #mayBeError(): boolean {
    if (this.status !== 200 || this.#upstream.family.failureIn === undefined) return false;
    const length = Number(headerValue(this.headers, 'content-length') ?? 0);
    if (length === 0 || length > suspiciousBytes) return false;
    if (headerValue(this.headers, 'content-encoding') !== undefined) return false;
    return /^application\/(?:[^;]*\+)?json/i.test(headerValue(this.headers, 'content-type') ?? '');
  }

  /** Errors are short, also where no length is announced. */
  #mayHoldSign(): boolean {
    const { signs } = this.#upstream.family;
    if (signs === undefined || !signs.some(({ status }) => status === this.status)) return false;
    if (headerValue(this.headers, 'content-encoding') !== undefined) return false;
    return Number(headerValue(this.headers, 'content-length') ?? 0) <= suspiciousBytes;
  }

  /** Looks at what has come of such a body, and hands the answer over once it is clear what it is. */
  #lookAtBeginning(isWhole: boolean): void {
    const [only] = this.waiting;
    const beginning = this.waiting.length === 1 && only !== undefined ? only : Buffer.concat(this.waiting);
    const isClear = this.status >= 400 ? this.#readSign(beginning, isWhole) : this.#readError(beginning, isWhole);
    if (isClear) this.#answer();
  }

  #readError(beginning: Buffer, isWhole: boolean): boolean {
    const meant = this.#upstream.family.failureIn?.(beginning, isWhole);
    if (meant === 'unclear') return false;
    this.meantStatus = meant;
    return true;
  }

  #readSign(beginning: Buffer, isWhole: boolean): boolean {
    const { signs = [] } = this.#upstream.family;
    const sign = signs.find(({ status, says }) => status === this.status && beginning.includes(says));
    if (sign === undefined) return isWhole || beginning.length > suspiciousBytes;
    if (sign.means === 'loading') this.isLoading = true;
    else this.meantStatus = sign.means;
    return true;
  }

  #answer(): void {
    this.#awaitsBeginning = false;
    this.#resolve?.({ kind: 'answered', answer: this });
    this.#resolve = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#phaseAtMs = performance.now() + this.#timeouts.idleMs;
    if (this.#sink === undefined) {
      this.waiting.push(chunk);
      this.#untakenBytes += chunk.length;
      if (this.#untakenBytes > untakenBytes) this.#pause(controller);
      if (this.#awaitsBeginning) this.#lookAtBeginning(false);
      return;
    }
    if (!this.#sink.onChunk(chunk)) this.#pause(controller);
  }

  #pause(controller: Dispatcher.DispatchController): void {
    this.#paused = true;
    controller.pause();
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#finish();
    this.ended = true;
    this.#trailers = toText(controller.rawTrailers);
    if (this.#awaitsBeginning) this.#lookAtBeginning(true);
    this.#sink?.onEnd(this.#trailers);
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.#failure ??= this.#toFailure(error);
    this.#finish(this.status !== 0 && !this.#cancelled ? this.#failure : undefined);
    if (this.#awaitsBeginning && !this.#cancelled) this.#answer();
    if (this.#resolve !== undefined) {
      this.#resolve(
        this.#cancelled && this.#client.gone
          ? { kind: 'client-gone' }
          : { kind: this.#started ? 'unknown' : 'not-sent', failure: this.#failure },
      );
      this.#resolve = undefined;
      return;
    }
    if (!this.#cancelled) this.#sink?.onBroken(this.#failure);
  }

  #toFailure(error: unknown): Failure {
    const failure = toFailure(error, this.#started);
    if (this.firstByteAtMs !== 0 || !isStaleConnection(error)) return failure;
    return performance.now() - this.sentAtMs < staleWithinMs ? { ...failure, stale: true } : failure;
  }

  // What the relay asks.

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
    else if (this.#paused && !wasPaused) this.#controller?.pause();
    else if (wasPaused && !this.#paused) this.#controller?.resume();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#phaseAtMs = performance.now() + this.#timeouts.idleMs;
    this.#controller?.resume();
  }

  clientLeft(): void {
    this.cancel();
  }

  cancel(): void {
    if (this.#over || this.#cancelled) return;
    this.#cancelled = true;
    if (this.#controller !== null) {
      this.#controller.abort(new Error('cancelled'));
      return;
    }
    // Still waiting for a connection: nobody would call back before one is there.
    this.#finish();
    this.#resolve?.({ kind: 'client-gone', unsent: true });
    this.#resolve = undefined;
  }

  /** Called by the timer: ends the call where a deadline has passed, else sleeps until the next one. */
  lookAtClock(): void {
    const nowMs = performance.now();
    // A reader that we made wait is not a silent upstream.
    if (this.#paused) this.#phaseAtMs = nowMs + this.#timeouts.idleMs;
    const dueMs = Math.min(this.#phaseAtMs, this.#totalAtMs) - nowMs;
    if (dueMs > 0) {
      this.#timer = setTimeout(lookAtClock, Math.ceil(Math.min(dueMs, this.#napMs())), this);
      return;
    }
    this.#fail(this.#timeoutFailure(nowMs));
  }

  /** How long the timer may sleep at most: a phase that has not begun may end before any deadline that is known by now. */
  #napMs(): number {
    const { firstByteMs, idleMs } = this.#timeouts;
    return this.firstByteAtMs === 0 ? Math.min(firstByteMs, idleMs) : Number.POSITIVE_INFINITY;
  }

  /** An answer that was coming, or a call that began late, is not to blame for the end of the total time. */
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

  #fail(failure: Failure): void {
    this.#failure = failure;
    if (this.#controller !== null) {
      this.#controller.abort(new Error(failure.cause));
      return;
    }
    this.#cancelled = true;
    this.#finish();
    this.#resolve?.({ kind: 'not-sent', failure });
    this.#resolve = undefined;
  }

  #finish(broken?: Failure): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#end.over(broken);
  }
}

function lookAtClock(call: CallHandler): void {
  call.lookAtClock();
}

/** The library reads it as UTF-8, and nothing can be made of what was none; it is written as Latin-1. */
function toStatusText(text: string): string {
  return text.includes('\ufffd') ? '' : Buffer.from(text).toString('latin1');
}

/** Header bytes are Latin-1 on the wire, and are written as Latin-1 again. */
function toText(raw: unknown): readonly string[] {
  if (!Array.isArray(raw)) return [];
  const text: string[] = new Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) {
    const part: unknown = raw[i];
    text[i] = Buffer.isBuffer(part) ? part.toString('latin1') : String(part);
  }
  return text;
}
