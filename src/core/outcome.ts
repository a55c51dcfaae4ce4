/** A call to one target, and its possible outcomes. */

import type { Buffer } from 'node:buffer';
import type { Usage } from './accounting/usage.ts';
import type { CallBody } from './call-body.ts';
import type { ErrorCode } from './errors.ts';
import type { Offer } from './family.ts';
import type { Timeouts, Upstream } from './snapshot.ts';
import type { Translated } from './translation.ts';

/** Something that is done for a client, and is stopped when that one leaves. */
export interface ClientWork {
  clientLeft(): void;
}

/**
 * Whether the client still listens, and what is being done for it. The work is an object and not a callback: V8 keeps a closure
 * that nobody ever calls, with all it refers to, until a full collection, which halved the throughput.
 */
export interface Listening {
  gone: boolean;
  work: ClientWork | undefined;
}

/** Is told when nothing more comes of a call, so that its place can be given to the next. */
export interface CallEnd {
  /** The first time counts. `broken` says that the upstream broke off an answer that had begun. */
  over(broken: Failure | undefined): void;
}

/** What a good answer has to be: JSON, or beside that what its head declares or the request asked for. */
export type AnswerForm = 'json' | 'json or events' | 'json or text';

/** A call, ready to send. */
export interface Call {
  /** POST where it does not say; others have no body. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly upstream: Upstream;
  readonly offer: Offer;
  /** Path under the origin, upstream prefix included. */
  readonly path: string;
  /** Names and values in turn; no framing among them. */
  readonly headers: readonly string[];
  /** In place of them, where they are written and judged already: a line each. */
  readonly lines?: string | undefined;
  readonly body: CallBody;
  readonly timeouts: Timeouts;
  /** On the monotonic clock: when the client's patience ends, however many calls were made before this one. */
  readonly deadlineMs: number;
  readonly client: Listening;
  readonly end: CallEnd;
  /** It may not be sent again once a byte of it has left. */
  readonly isOnce?: boolean;
  /** A good answer that begins otherwise is a failure. Undefined: it may be anything. */
  readonly form?: AnswerForm | undefined;
}

/** Takes an answer's body; `onChunk` says false when it wants a pause, and `Answer.resume` ends it. */
export interface AnswerSink {
  onChunk(chunk: Buffer): boolean;
  /** Trailers: names and values in turn. */
  onEnd(trailers: readonly string[]): void;
  /** The upstream broke off: what came so far is all there is. */
  onBroken(failure: Failure): void;
}

export interface Answer {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, in the order and the letter case in which they came. */
  readonly headers: readonly string[];
  /** On the monotonic clock: when the call was sent, and when the first byte of the answer was here. */
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  /** Chunks that came before anyone took them; complete when `ended` is true. */
  readonly waiting: readonly Buffer[];
  readonly ended: boolean;
  /** A short body that waits here whole, each byte a character: made once, for all that read it. */
  text?: string | undefined;
  /** The upstream has broken off; what waits is all there is. */
  readonly broken: Failure | undefined;
  /** Where its first bytes show that another status is meant: see `Family.failureIn` and `Family.signs`. */
  readonly meantStatus?: number | undefined;
  /** It says that the model is being loaded: nothing was done. */
  readonly isLoading?: boolean;
  /** Where its bytes are not the upstream's own. Read when it is over. */
  readonly translated?: Translated | undefined;
  /** Where it was made in this process: fields of the question that it went without. */
  readonly ignored?: readonly string[] | undefined;
  /** What was counted in a part of it that is left out. Read when it is over. */
  readonly countedApart?: Usage | undefined;
  /** Hands over what waits, and everything that follows. Called once. */
  take(sink: AnswerSink): void;
  resume(): void;
  cancel(): void;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** For the log only. */
  readonly cause: string;
  /** The connection had been kept open and was closed before a byte of an answer came: this may be nobody's failure. */
  readonly stale?: true;
  /** It broke off at one of several endpoints of the upstream: another one may be asked at once, and the target is not to blame. */
  readonly elsewhere?: true;
  /** The time for all attempts was up, or for an answer that was coming, or a fault of ours: it says nothing of the upstream. */
  readonly ours?: true;
  /** It answered in time, and nothing could be made of it. */
  readonly unfit?: true;
  /** The same call to the same target would fail in the same way. */
  readonly isLasting?: true;
  /** Nobody else is asked after it. */
  readonly isFinal?: true;
  /** It was served all the same and is owed: what its upstream counted. */
  readonly served?: Usage | null;
  /** What the client is told where it becomes the answer. */
  readonly retryAfterS?: number;
}

/** The upstream answered in time, and not as it was asked. */
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
      /** An error to one of several calls of a request; the others may have been served. */
      readonly isPartial?: true;
    }
  /** No byte of the call left this machine. */
  | { readonly kind: 'not-sent'; readonly failure: Failure }
  /** It was sent, and nobody knows what became of it. */
  | { readonly kind: 'unknown'; readonly failure: Failure }
  | {
      readonly kind: 'client-gone';
      /** No byte of the call had left. */
      readonly unsent?: true;
    };

/** Is told once how a call ended. */
export interface OutcomeWaiter {
  onOutcome(outcome: Outcome): void;
}

/** Sends a call and waits for the head of its answer. Never rejects. */
export type Transport = (call: Call) => Promise<Outcome>;
