/** Defines a call to one target of a model, and the outcomes it can have. */

import type { Buffer } from 'node:buffer';
import type { Usage } from './accounting/usage.ts';
import type { CallBody } from './call-body.ts';
import type { ErrorCode } from './errors.ts';
import type { Offer } from './family.ts';
import type { Timeouts, Upstream } from './snapshot.ts';
import type { Translated } from './translation.ts';

/** Work for a client that is stopped when the client leaves. */
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
  /** How long the latest upstream call waited for a connection; undefined where one was free. */
  connectMs?: number | undefined;
}

/** Receives the end of a call, so that the call's slot can be given to the next one. */
export interface CallEnd {
  /** Ends the call; only the first invocation counts. `broken`: the upstream broke off an answer that had begun. */
  over(broken: Failure | undefined): void;
}

/** The form that a good answer has: JSON, or also an event stream or text, if the answer's head or the request says so. */
export type AnswerForm = 'json' | 'json or events' | 'json or text';

export interface Call {
  /** POST where undefined; calls with the other methods have no body. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly upstream: Upstream;
  readonly offer: Offer;
  /** The path under the origin, upstream prefix included. */
  readonly path: string;
  /** Header names and values in turn, without those for the framing of the body. */
  readonly headers: readonly string[];
  /** Header lines, already written and validated, used in place of `headers`. */
  readonly lines?: string | undefined;
  readonly body: CallBody;
  readonly timeouts: Timeouts;
  /** The end of the client's total timeout over all calls, on the monotonic clock. */
  readonly deadlineMs: number;
  readonly client: Listening;
  readonly end: CallEnd;
  /** The call must not be sent again once its first byte was sent. */
  readonly isOnce?: boolean;
  /** The form that a good answer must have, else it is a failure. Undefined: any form. */
  readonly form?: AnswerForm | undefined;
}

/** Receives an answer's body; `onChunk` returns false to pause it, and `Answer.resume` continues. */
export interface AnswerSink {
  onChunk(chunk: Buffer): boolean;
  /** The body is complete; trailers are names and values in turn. */
  onEnd(trailers: readonly string[]): void;
  onBroken(failure: Failure): void;
}

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  /** Header names and values in turn, in the received order and letter case. */
  readonly headers: readonly string[];
  /** Caches what is made from the head; shared with answers whose heads differ in the announced length alone. */
  readonly headMemo?: { made: unknown } | undefined;
  /** Monotonic times of sending the call and of the answer's first byte. */
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  /** Chunks of the body received before `take`; all of them where `ended` is true. */
  readonly waiting: readonly Buffer[];
  readonly ended: boolean;
  /** Set where the upstream broke off; `waiting` then holds all that came. */
  readonly broken: Failure | undefined;
  /** The real status, as read from the body's first bytes: see `Family.failureIn` and `Family.signs`. */
  readonly meantStatus?: number | undefined;
  /** The upstream is still loading the model, and did nothing. */
  readonly isLoading?: boolean;
  /** Set where the bytes are a translation of the upstream's. Read at the end. */
  readonly translated?: Translated | undefined;
  /** Request fields that were ignored by an answer made in this process. */
  readonly ignored?: readonly string[] | undefined;
  /** Usage from a part of the answer that is not sent to the client. Read at the end. */
  readonly countedApart?: Usage | undefined;
  /** Passes `waiting` and all later chunks to the sink. Called once. */
  take(sink: AnswerSink): void;
  resume(): void;
  cancel(): void;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** The cause, for the log only. */
  readonly cause: string;
  /** A kept-alive connection was closed before any byte of an answer: this may be no fault at all. */
  readonly stale?: true;
  /** The call broke off at one of several endpoints of the upstream: another may be called at once, and the target is not at fault. */
  readonly elsewhere?: true;
  /** Not the upstream's failure: a timeout for all attempts or for an answer in progress, or a fault of ours. */
  readonly ours?: true;
  /** The upstream answered in time, with an unusable answer. */
  readonly unfit?: true;
  /** The same call to the same target would fail again. */
  readonly isLasting?: true;
  /** No other target is tried after this failure. */
  readonly isFinal?: true;
  /** Usage of a call that failed for the client, but was served and is billed. */
  readonly served?: Usage | null;
  /** `Retry-After` for the client, where this failure becomes the answer. */
  readonly retryAfterS?: number;
}

/** The failure of a call that was answered in time, but not as requested. */
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
      /** The answer is the error of one of several calls of a request; the others may have been served. */
      readonly isPartial?: true;
    }
  /** No byte of the call was sent. */
  | { readonly kind: 'not-sent'; readonly failure: Failure }
  /** The call was sent, and its result is unknown. */
  | { readonly kind: 'unknown'; readonly failure: Failure }
  | {
      readonly kind: 'client-gone';
      /** No byte of the call was sent. */
      readonly unsent?: true;
    };

export interface OutcomeWaiter {
  onOutcome(outcome: Outcome): void;
}

/** Sends a call and resolves at the head of its answer. Never rejects. */
export type Transport = (call: Call) => Promise<Outcome>;
