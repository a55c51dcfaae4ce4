/** A row of the ledger, in the journal and in the store. */

import type { Operation } from '../operations/index.ts';
import type { Units } from './units.ts';

/** How sure a row is before work goes on: handed to the system (survives the process), or on the disk (survives a power cut). */
export const durabilities = ['fast', 'strict'] as const;
export type Durability = (typeof durabilities)[number];

/** One call of an exchange that took more than its first call. */
export interface TryRecord {
  readonly upstream: string;
  readonly model: string;
  /** Undefined where the upstream has a single credential. */
  readonly credential: string | undefined;
  readonly outcome: string;
  /** A status, or the reason for the failure. */
  readonly detail: number | string | undefined;
  /** Milliseconds after the request arrived. Undefined in rows of older versions. */
  readonly startMs?: number | undefined;
  readonly durationMs: number;
  /** Of that, the time until it had a connection. Undefined where one was free. */
  readonly connectMs?: number | undefined;
}

export const rowOutcomes = ['ok', 'error', 'refused', 'aborted', 'cut', 'lost'] as const;
/**
 * `ok`: answered below 400. `error`: an upstream's error, or ours after a call was sent. `refused`: nothing was sent. `aborted`: the client left.
 * `cut`: the answer broke off. `lost`: the process ended in between, so the result is unknown.
 */
export type RowOutcome = (typeof rowOutcomes)[number];

/** What is known of an exchange when it begins. */
interface RowHead {
  /** IDs sort by time. */
  readonly id: string;
  readonly clientRequestId: string | null;
  readonly startedAtMs: number;
  readonly node: string;
  readonly key: string;
  readonly project: string | null;
  readonly route: string;
  readonly operation: Operation;
  /** The label that the route was dispatched by; for a custom route, its own. */
  readonly label: string;
  readonly model: string | null;
  readonly items: number;
  readonly requestBytes: number;
  /** Null unless the operator records addresses. */
  readonly clientAddress: string | null;
  /** The trace that it belongs to; null where there is none. */
  readonly traceId: string | null;
}

/** One exchange in the ledger. Every field is present; an unknown value is null. */
export interface LedgerRow extends RowHead {
  readonly upstream: string | null;
  /** The upstream's name for the model. */
  readonly upstreamModel: string | null;
  readonly attempts: number;
  readonly tries: readonly TryRecord[];
  readonly outcome: RowOutcome;
  /** The client's status; 499 where it had left, 0 where unknown. */
  readonly status: number;
  readonly error: string | null;
  /** As the upstream reported them. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly searchUnits: number | null;
  readonly cachedTokens: number | null;
  /** Estimates where the upstream reported nothing; null where nothing was billed. */
  readonly billedInputTokens: number | null;
  readonly billedOutputTokens: number | null;
  readonly billedSearchUnits: number | null;
  readonly isEstimated: boolean;
  /** Null where the price is unknown. */
  readonly costNanos: number | null;
  readonly responseBytes: number;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  readonly upstreamMs: number | null;
  /** Null where no cache is on. */
  readonly cache: string | null;
  /** Time in the upstreams' queues, for a slot or a rate limit; null where it did not wait. */
  readonly queueMs: number | null;
  /** How long the call whose answer the client got waited for a connection; null where one was free. */
  readonly connectMs: number | null;
  /** Other billed units, and what the price depended on. */
  readonly units: Units | null;
}

/** An intent in the journal: enough to build a row where no settlement follows. */
export interface IntentRecord {
  readonly kind: 'intent';
  readonly row: RowHead;
  /** What was reserved: charged where the actual cost stays unknown. */
  readonly reservedNanos: number;
  readonly accounts: readonly string[];
}

export interface SettlementRecord {
  readonly kind: 'settlement';
  readonly row: LedgerRow;
  readonly accounts: readonly string[];
  /** Request and answer, redacted, where the key has capture enabled. */
  readonly capture?: Capture;
}

export interface Capture {
  readonly request: string;
  readonly response: string;
  readonly expiresAtMs: number;
}
