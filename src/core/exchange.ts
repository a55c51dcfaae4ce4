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
  /** Made by Postern: keys the log, and goes upstream as `x-request-id`. */
  readonly id: string;
  /** The client's own, where it sent a fitting one: echoed, stored beside ours, never sent upstream. */
  readonly clientRequestId: string | undefined;
  /** The configuration that this exchange began under, and ends under. */
  readonly snapshot: Snapshot;
  readonly startedAtMs: number;
  /** On the monotonic clock, as are all durations. */
  readonly startedMs: number;
  readonly client: Listening = { gone: false, work: undefined };

  /** The path it was judged by, never the one that came: `/v1/models`, `/v1/engines/{model}/embeddings`. */
  path: string | undefined = undefined;
  route: Route | undefined = undefined;
  key: KeyRecord | undefined = undefined;
  /** Which service's answers and errors the client reads: by its header, else the path, the key or the model. */
  shape: RerankShape | undefined = undefined;
  /** By which it came, where its client speaks as another service's do. */
  clientApi: ClientApi | undefined = undefined;
  clientAddress: string | undefined = undefined;
  /** What its calls carry, so that none comes back here: see loop-mark.ts. */
  loopMark = '';
  /** Where traces are kept. */
  trace: ExchangeTrace | undefined = undefined;
  /** The lane that its request asks for. */
  askedLane: Lane | undefined = undefined;
  /** Which calls go before it, where it has to wait for an upstream. */
  lane: Lane = 'interactive';
  /** How long it waited for a slot there. */
  queuedMs = 0;
  /** The model's public ID, as resolved. */
  modelId: string | undefined = undefined;
  /** What its body holds of the memory for bodies, until no attempt can send it again. */
  requestLease: MemoryLease | undefined = undefined;
  /** The form that it came with, until it is over. */
  upload: Upload | undefined = undefined;
  /** What answers hold that are read to be translated, until the client has what was made of them. */
  answerLease: MemoryLease | undefined = undefined;
  /** What it asks for, once its body was read. */
  estimate: RequestEstimate | undefined = undefined;
  target: Target | undefined = undefined;
  /** Its upstream goes on with it in the background: what it costs is settled by whoever follows that. */
  goesOn = false;
  /** By which the answer was got that the client gets. */
  credential: Credential | undefined = undefined;
  attempts = 0;
  /** Empty where the first call was answered well. */
  readonly tries: TryRecord[] = [];
  /** Of a list that was taken apart: those who asked for its parts, each billed by what it used. */
  parts: readonly Exchange[] | undefined = undefined;
  /** Calls that were served, or may have been, and of which nothing is in the answer: each is billed by what it used. */
  owed: readonly Exchange[] | undefined = undefined;
  /** And what nobody was asked for: it is billed by nobody, and this says what it would have been billed by. */
  saved: Exchange | undefined = undefined;
  /** The client reads counts of remembered items, and some of these are shares of what was counted together. */
  isUsageAbout = false;
  /** Where a cache is on: different items of a list, and how many of these were remembered. */
  cacheUse: CacheUse | undefined = undefined;
  /** When the call left, and when the first byte of its answer was here; on the monotonic clock, 0 while not. */
  sentAtMs = 0;
  firstByteAtMs = 0;

  /** What the client was answered; 0 while it was not. */
  status = 0;
  requestBytes = 0;
  responseBytes = 0;
  /** How many they are without their compression, where they have one that is known. */
  decodedBytes: number | undefined = undefined;
  /** Only where the key has bodies kept. */
  captured: Captured | undefined = undefined;
  usage: Usage | null = null;
  /** Of completions and edits: what was seen of their text. */
  written: Written | undefined = undefined;
  /** What was seen of pictures. */
  pictures: Pictures | undefined = undefined;
  /** What it is billed by; null while that is not known, and where nothing is owed. */
  bill: Bill | null = null;
  /** How it ended, once it did. */
  outcome: RowOutcome | undefined = undefined;
  errorCode: ErrorCode | undefined = undefined;
  /** The secret of its key, where bodies are kept: it is taken out of them. */
  keySecret: string | undefined = undefined;
  /** For the log: what lay behind an error, without secrets. */
  errorCause: string | undefined = undefined;
  /** The answer broke off after its head was sent, so the client's connection was broken too. */
  cut = false;
  /** The answer repeated a credential of the upstream, and was withheld or cut. */
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

/** What a call says of the trace to its upstream. */
export interface CallTrace {
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}

export interface ExchangeTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Whether anyone will find it. */
  readonly isSampled: boolean;
  /** A call is about to go to a target; `call` is any object that tells it from the other calls of the exchange. */
  calling(call: object, target: Target): CallTrace;
  /** What came of it. One that was answered well goes on until the exchange is over. */
  called(call: object, outcome: string, detail: number | string | undefined): void;
}
