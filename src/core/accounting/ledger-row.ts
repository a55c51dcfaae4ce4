/** Defines the row that the ledger keeps of each request, both in the journal and in the store. */

import type { Operation } from '../operations/index.ts';
import type { Units } from './units.ts';

/** How safe a row is before work goes on: handed to the operating system (survives the process), or on the disk (survives a power cut). */
export const durabilities = ['fast', 'strict'] as const;
export type Durability = (typeof durabilities)[number];

/** One upstream call of a request that needed more than one call. */
export interface TryRecord {
  readonly upstream: string;
  readonly model: string;
  /** The ID of the credential that was used; undefined where the upstream has a single one. */
  readonly credential: string | undefined;
  readonly outcome: string;
  /** The response status of the call, or the reason why it failed. */
  readonly detail: number | string | undefined;
  /** Start of the call, in milliseconds after the request arrived. Undefined in rows of older versions. */
  readonly startMs?: number | undefined;
  readonly durationMs: number;
  /** Part of the call's time spent on getting a connection. Undefined where one was free. */
  readonly connectMs?: number | undefined;
}

export const rowOutcomes = ['ok', 'error', 'refused', 'aborted', 'cut', 'lost'] as const;
/**
 * The result of a request: `ok`: answered below 400. `error`: an upstream's error, or ours after a call was sent. `refused`: nothing was sent.
 * `aborted`: the client left. `cut`: the answer broke off. `lost`: the process ended in between, so the result is unknown.
 */
export type RowOutcome = (typeof rowOutcomes)[number];

interface RowHead {
  /** The request's ID; IDs sort by time. */
  readonly id: string;
  readonly clientRequestId: string | null;
  readonly startedAtMs: number;
  readonly node: string;
  readonly key: string;
  readonly project: string | null;
  readonly route: string;
  readonly operation: Operation;
  /** The label by which the route chose its targets; for a custom route, the route's own label. */
  readonly label: string;
  readonly model: string | null;
  readonly items: number;
  readonly requestBytes: number;
  /** The client's address; null unless the operator records addresses. */
  readonly clientAddress: string | null;
  readonly traceId: string | null;
}

/** One exchange in the ledger. Every field is present; an unknown value is null. */
export interface LedgerRow extends RowHead {
  readonly upstream: string | null;
  readonly upstreamModel: string | null;
  readonly attempts: number;
  readonly tries: readonly TryRecord[];
  readonly outcome: RowOutcome;
  /** The status that the client got; 499 where the client had left, 0 where it is unknown. */
  readonly status: number;
  readonly error: string | null;
  /** Token counts as the upstream reported them. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly searchUnits: number | null;
  readonly cachedTokens: number | null;
  /** Token counts that were billed: estimates where the upstream reported nothing; null where nothing was billed. */
  readonly billedInputTokens: number | null;
  readonly billedOutputTokens: number | null;
  readonly billedSearchUnits: number | null;
  readonly isEstimated: boolean;
  readonly costNanos: number | null;
  readonly responseBytes: number;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  readonly upstreamMs: number | null;
  /** How the cache was used (`hit`, `partial`, `miss`); null where no cache is on. */
  readonly cache: string | null;
  readonly queueMs: number | null;
  /** How long the call whose answer the client got waited for a connection; null where one was free. */
  readonly connectMs: number | null;
  /** Other billed units, and what the price depended on. */
  readonly units: Units | null;
}

/** What the journal records before a request is sent: enough to build a row where its end is never recorded. */
export interface IntentRecord {
  readonly kind: 'intent';
  readonly row: RowHead;
  /** The reserved upper bound of the cost: charged where the actual cost stays unknown. */
  readonly reservedNanos: number;
  readonly accounts: readonly string[];
}

export interface SettlementRecord {
  readonly kind: 'settlement';
  readonly row: LedgerRow;
  readonly accounts: readonly string[];
  /** Request and response bodies, without secrets, where the key has capture enabled. */
  readonly capture?: Capture;
}

export interface Capture {
  readonly request: string;
  readonly response: string;
  readonly expiresAtMs: number;
}
