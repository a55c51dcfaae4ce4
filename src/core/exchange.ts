/** One client request and everything known about it. One shape: every field is assigned in the constructor. */

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
  /** Made by Postern: the key of log and ledger, sent upstream as `x-request-id`. */
  readonly id: string;
  /** The client's own, where valid: echoed, stored beside ours, never sent upstream. */
  readonly clientRequestId: string | undefined;
  /** The exchange keeps its configuration until it ends. */
  readonly snapshot: Snapshot;
  readonly startedAtMs: number;
  /** On the monotonic clock, as all durations. */
  readonly startedMs: number;
  readonly client: Listening = { gone: false, work: undefined, connectMs: undefined };

  /** The canonical path, never the one that the client sent: `/v1/models`, `/v1/engines/{model}/embeddings`. */
  path: string | undefined = undefined;
  route: Route | undefined = undefined;
  key: KeyRecord | undefined = undefined;
  /** Counts it among those of its key until a reservation does. */
  begun: Beginning | undefined = undefined;
  /** The shape of answers and errors: by the client's header, else the path, the key or the model. */
  shape: RerankShape | undefined = undefined;
  /** Instead of a shape, in errors that the gateway writes. */
  errorShape: RerankShape | undefined = undefined;
  /** The client API that it came by. */
  clientApi: ClientApi | undefined = undefined;
  clientAddress: string | undefined = undefined;
  /** The mark that its calls carry, to refuse loops: see loop-mark.ts. */
  loopMark = '';
  /** Undefined where no traces are kept. */
  trace: ExchangeTrace | undefined = undefined;
  /** The lane that the request asks for. */
  askedLane: Lane | undefined = undefined;
  /** Decides which calls go first where it waits for an upstream. */
  lane: Lane = 'interactive';
  queuedMs = 0;
  /** The model's public ID, as resolved. */
  modelId: string | undefined = undefined;
  /** Its body's share of the body memory, until no attempt can send it again. */
  requestLease: MemoryLease | undefined = undefined;
  /** The received form, until the exchange is over. */
  upload: Upload | undefined = undefined;
  /** Memory of answers that are being translated, until the client has the result. */
  answerLease: MemoryLease | undefined = undefined;
  /** Known once its body was read. */
  estimate: RequestEstimate | undefined = undefined;
  target: Target | undefined = undefined;
  /** The upstream continues in the background: polling settles the cost. */
  goesOn = false;
  /** The credential of the call whose answer the client gets. */
  credential: Credential | undefined = undefined;
  attempts = 0;
  /** Empty where the first call succeeded. */
  readonly tries: TryRecord[] = [];
  /** Of a list that was split: the exchanges of its parts, each billed for its own usage. */
  parts: readonly Exchange[] | undefined = undefined;
  /** Calls that were served, or may have been, and whose results are not in the answer: each is billed for its own usage. */
  owed: readonly Exchange[] | undefined = undefined;
  /** Items from the cache: not billed, but this has the figures they would have been billed by. */
  saved: Exchange | undefined = undefined;
  /** The usage sent to the client includes remembered items or shares of joint counts. */
  isUsageAbout = false;
  /** Undefined where no cache is on. */
  cacheUse: CacheUse | undefined = undefined;
  /** Monotonic times of sending the call and of the answer's first byte; 0 before. */
  sentAtMs = 0;
  firstByteAtMs = 0;

  /** The answer has rate headers of the gateway's own limits. */
  hasOwnRates = false;
  /** The client's status; 0 before the answer. */
  status = 0;
  requestBytes = 0;
  responseBytes = 0;
  /** Bytes after decompression, where the encoding is known. */
  decodedBytes: number | undefined = undefined;
  /** Undefined unless the key has capture enabled. */
  captured: Captured | undefined = undefined;
  usage: Usage | null = null;
  /** Text of completions and edits, gathered as it passed. */
  written: Written | undefined = undefined;
  pictures: Pictures | undefined = undefined;
  /** Null while it is unknown, and where nothing is owed. */
  bill: Bill | null = null;
  outcome: RowOutcome | undefined = undefined;
  errorCode: ErrorCode | undefined = undefined;
  /** The key's secret, to remove it from captured bodies. */
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

/** An exchange whose body is not read yet, counted among those of its key. */
export interface Beginning {
  /** Ends the counting. Idempotent. */
  over(): void;
}

/** The trace headers' values for one call. */
export interface CallTrace {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

export interface ExchangeTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  readonly isSampled: boolean;
  /** A call is about to go to a target; `call` is any object that identifies it within the exchange. */
  calling(call: object, target: Target): CallTrace;
  /** The call's result. The span of a successful call ends with the exchange. */
  called(call: object, outcome: string, detail: number | string | undefined): void;
}

/** Read access to a client request's headers. */
export interface RequestHeaders {
  /** All values of a repeated header, joined as a list. `name` in lower case. */
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** Headers for every upstream, as lines of a head: kept for the next request with the same head. */
  passedOn?: string | undefined;
}
