/** Holds one client request and everything known about it. One shape for V8: the constructor assigns every field. */

import type { Captured } from './accounting/captured.ts';
import type { RowOutcome, TryRecord } from './accounting/ledger-row.ts';
import type { Bill, RequestEstimate } from './accounting/price.ts';
import type { Pictures, Usage, Written } from './accounting/usage.ts';
import type { CacheUse } from './cache-use.ts';
import type { ClientApi } from './client-api.ts';
import type { ErrorCode } from './errors.ts';
import type { KeyRecord } from './key.ts';
import type { Lane } from './lane.ts';
import type { MemoryLease } from './memory-lease.ts';
import type { Listening } from './outcome.ts';
import type { Route } from './route.ts';
import type { Credential, Snapshot, Target } from './snapshot.ts';
import type { RerankShape } from './translation.ts';
import type { Upload } from './upload.ts';

export class Exchange {
  /** The ID that Postern made: the request's key in log and ledger, sent upstream as `x-request-id`. */
  readonly id: string;
  /** The request ID that the client sent, where valid: echoed, stored beside `id`, never sent upstream. */
  readonly clientRequestId: string | undefined;
  /** The configuration of this exchange until it ends, even if a newer one is loaded. */
  readonly snapshot: Snapshot;
  readonly startedAtMs: number;
  /** Start on the monotonic clock, as for all durations. */
  readonly startedMs: number;
  readonly client: Listening = { gone: false, work: undefined, connectMs: undefined };

  /** The canonical path, never the one that the client sent: `/v1/models`, `/v1/engines/{model}/embeddings`. */
  path: string | undefined = undefined;
  route: Route | undefined = undefined;
  key: KeyRecord | undefined = undefined;
  /** Counts the exchange among those of its key until a reservation does. */
  begun: Beginning | undefined = undefined;
  /** The shape of answers and errors: chosen by the client's header, else by the path, the key or the model. */
  shape: RerankShape | undefined = undefined;
  /** The shape of errors that the gateway writes, in place of `shape`. */
  errorShape: RerankShape | undefined = undefined;
  clientApi: ClientApi | undefined = undefined;
  clientAddress: string | undefined = undefined;
  /** The mark that upstream calls of this request carry, to refuse loops: see loop-mark.ts. */
  loopMark = '';
  trace: ExchangeTrace | undefined = undefined;
  askedLane: Lane | undefined = undefined;
  /** The lane that the request is in: decides which calls go first where they wait for an upstream. */
  lane: Lane = 'interactive';
  queuedMs = 0;
  /** The model's public ID, as resolved. */
  modelId: string | undefined = undefined;
  /** The lease of memory for the request body, held while an attempt may still send the body. */
  requestLease: MemoryLease | undefined = undefined;
  /** The received form (multipart), until the exchange is over. */
  upload: Upload | undefined = undefined;
  /** Memory of answers that are being translated, until the client has the result. */
  answerLease: MemoryLease | undefined = undefined;
  /** What the request may use; known once its body was read. */
  estimate: RequestEstimate | undefined = undefined;
  target: Target | undefined = undefined;
  /** The upstream goes on working in the background: polling settles the cost. */
  goesOn = false;
  credential: Credential | undefined = undefined;
  attempts = 0;
  /** Records of calls to targets; empty where the first call succeeded. */
  readonly tries: TryRecord[] = [];
  /** For a list that was split: the exchanges of its parts, each billed for its own usage. */
  parts: readonly Exchange[] | undefined = undefined;
  /** Calls that were served, or may have been, and whose results are not in the answer: each is billed for its own usage. */
  owed: readonly Exchange[] | undefined = undefined;
  /** Stands for items from the cache, which are not billed: has the figures by which they would have been billed. */
  saved: Exchange | undefined = undefined;
  /** The usage sent to the client is approximate: it includes cached items, or shares of counts of a joint call. */
  isUsageAbout = false;
  cacheUse: CacheUse | undefined = undefined;
  /** Monotonic times of sending the call and of the answer's first byte; 0 before. */
  sentAtMs = 0;
  firstByteAtMs = 0;

  /** The answer carries rate headers of the gateway's own limits. */
  hasOwnRates = false;
  /** The status sent to the client; 0 before the answer. */
  status = 0;
  requestBytes = 0;
  responseBytes = 0;
  /** Bytes of the response after decompression, where the encoding is known. */
  decodedBytes: number | undefined = undefined;
  captured: Captured | undefined = undefined;
  usage: Usage | null = null;
  /** Facts about the text of completions and edits, gathered while it passed through. */
  written: Written | undefined = undefined;
  pictures: Pictures | undefined = undefined;
  /** The cost; null while it is unknown, and where nothing is owed. */
  bill: Bill | null = null;
  outcome: RowOutcome | undefined = undefined;
  errorCode: ErrorCode | undefined = undefined;
  /** The secret of the client's key, to remove it from captured bodies. */
  keySecret: string | undefined = undefined;
  /** For the log: the cause of an error, without secrets. */
  errorCause: string | undefined = undefined;
  /** The answer broke off after its head was sent, so the client's connection was closed too. */
  cut = false;
  /** The answer contained a credential of the upstream, and was withheld or cut. */
  repeatedCredential = false;

  constructor(
    id: string,
    clientRequestId: string | undefined,
    snapshot: Snapshot,
    startedAtMs: number,
    startedMs: number,
  ) {
    this.id = id;
    this.clientRequestId = clientRequestId;
    this.snapshot = snapshot;
    this.startedAtMs = startedAtMs;
    this.startedMs = startedMs;
  }
}

/** Counts an exchange among those of its key while its body is not read yet. */
export interface Beginning {
  /** Ends the counting. Idempotent. */
  over(): void;
}

export interface CallTrace {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

export interface ExchangeTrace {
  /** The ID of the trace: 32 hexadecimal digits. */
  readonly traceId: string;
  readonly isSampled: boolean;
  /** A call is about to go to a target; `call` is any object that identifies it within the exchange. */
  calling(call: object, target: Target): CallTrace;
  /** Ends a call with its result. The span of a successful call ends with the exchange. */
  called(call: object, outcome: string, detail: number | string | undefined): void;
}

export interface RequestHeaders {
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Cached header lines for every upstream: reused for the next request with the same head. */
  passedOn?: string | undefined;
}
