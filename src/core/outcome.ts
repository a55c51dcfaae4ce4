/** A call to one target, and its possible outcomes. */

import type { Buffer } from 'node:buffer';
import type { Usage } from './accounting/usage.ts';
import type { CallBody } from './call-body.ts';
import type { ErrorCode } from './errors.ts';
import type { Offer } from './family.ts';
import type { Timeouts, Upstream } from './snapshot.ts';
import type { Translated } from './translation.ts';

/** Work for a client, stopped when the client leaves. */
export interface ClientWork {
  clientLeft(): void;
}

/**
 * Whether the client is connected, and the work done for it. The work is an object and not a callback: V8 keeps a closure that is never called, with
 * all it refers to, until a full collection, which halved the throughput.
 */
export interface Listening {
  gone: boolean;
  work: ClientWork | undefined;
  /** How long its latest call waited for a connection; undefined where one was free. */
  connectMs?: number | undefined;
}

/** Notified when a call is over, so that its slot can be given to the next. */
export interface CallEnd {
  /** Only the first call counts. `broken`: the upstream broke off an answer that had begun. */
  over(broken: Failure | undefined): void;
}

/** The form of a good answer: JSON, or also what its head declares or the request asked for. */
export type AnswerForm = 'json' | 'json or events' | 'json or text';

export interface Call {
  /** POST where undefined; the others have no body. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly upstream: Upstream;
  readonly offer: Offer;
  /** Path under the origin, upstream prefix included. */
  readonly path: string;
  /** Names and values in turn, without those of framing. */
  readonly headers: readonly string[];
  /** In place of `headers`, already written and validated: a line each. */
  readonly lines?: string | undefined;
  readonly body: CallBody;
  readonly timeouts: Timeouts;
  /** Monotonic: the end of the client's total timeout, over all calls. */
  readonly deadlineMs: number;
  readonly client: Listening;
  readonly end: CallEnd;
  /** It must not be sent again once its first byte was sent. */
  readonly isOnce?: boolean;
  /** A good answer of another form is a failure. Undefined: any form. */
  readonly form?: AnswerForm | undefined;
}

/** Receives an answer's body; `onChunk` returns false to pause it, and `Answer.resume` continues. */
export interface AnswerSink {
  onChunk(chunk: Buffer): boolean;
  /** Trailers: names and values in turn. */
  onEnd(trailers: readonly string[]): void;
  /** The upstream broke off: nothing more follows. */
  onBroken(failure: Failure): void;
}

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, in the received order and letter case. */
  readonly headers: readonly string[];
  /** Shared with answers whose heads differ in the announced length alone. */
  readonly headMemo?: { made: unknown } | undefined;
  /** Monotonic times of sending the call and of the answer's first byte. */
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  /** Chunks received before `take`; complete where `ended` is true. */
  readonly waiting: readonly Buffer[];
  readonly ended: boolean;
  /** The upstream broke off; `waiting` holds all there is. */
  readonly broken: Failure | undefined;
  /** The real status by its first bytes: see `Family.failureIn` and `Family.signs`. */
  readonly meantStatus?: number | undefined;
  /** The upstream is loading the model, and did nothing. */
  readonly isLoading?: boolean;
  /** Set where its bytes are not the upstream's own. Read at the end. */
  readonly translated?: Translated | undefined;
  /** Fields that an answer made in this process ignored. */
  readonly ignored?: readonly string[] | undefined;
  /** Usage from a part that is not sent to the client. Read at the end. */
  readonly countedApart?: Usage | undefined;
  /** Hands over `waiting` and all that follows. Called once. */
  take(sink: AnswerSink): void;
  resume(): void;
  cancel(): void;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** For the log only. */
  readonly cause: string;
  /** A kept-alive connection was closed before any byte of an answer: this may be no fault at all. */
  readonly stale?: true;
  /** It broke off at one of several endpoints of the upstream: another may be called at once, and the target is not at fault. */
  readonly elsewhere?: true;
  /** A timeout for all attempts or for an answer in progress, or a fault of ours: it says nothing of the upstream. */
  readonly ours?: true;
  /** It answered in time, with an unusable answer. */
  readonly unfit?: true;
  /** The same call to the same target would fail again. */
  readonly isLasting?: true;
  /** No other target is tried after it. */
  readonly isFinal?: true;
  /** It was served and is billed: the upstream's usage. */
  readonly served?: Usage | null;
  /** `Retry-After` for the client, where this becomes the answer. */
  readonly retryAfterS?: number;
}

/** The upstream answered in time, but not as asked. */
export function misfit(fact: string): Failure {
  return {
    code: 'upstream_protocol_error',
    message: `The upstream's answer does not fit the request (${fact}); try again, and tell the operator if it stays so.`,
    cause: fact,
    unfit: true,
  };
}

export type Outcome =
  | {
      readonly kind: 'answered';
      readonly answer: Answer;
      /** An error of one of several calls of a request; the others may have been served. */
      readonly isPartial?: true;
    }
  /** No byte of the call was sent. */
  | { readonly kind: 'not-sent'; readonly failure: Failure }
  /** It was sent, and its result is unknown. */
  | { readonly kind: 'unknown'; readonly failure: Failure }
  | {
      readonly kind: 'client-gone';
      /** No byte of the call was sent. */
      readonly unsent?: true;
    };

/** Receives a call's outcome once. */
export interface OutcomeWaiter {
  onOutcome(outcome: Outcome): void;
}

/** Sends a call and waits for the head of its answer. Never rejects. */
export type Transport = (call: Call) => Promise<Outcome>;
