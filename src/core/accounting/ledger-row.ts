/** A row of the ledger, in the journal and in the store. */

import type { Operation } from '../operations/index.ts';
import type { Units } from './units.ts';

/** How sure a row is before work goes on: handed to the system (survives the process), or on the disk (survives a power cut). */
export const durabilities = ['fast', 'strict'] as const;
export type Durability = (typeof durabilities)[number];

/** One call of an exchange, where it took more than the one that was answered well. */
export interface TryRecord {
  readonly upstream: string;
  readonly model: string;
  /** Where the upstream has several. */
  readonly credential: string | undefined;
  readonly outcome: string;
  /** A status, or what went wrong. */
  readonly detail: number | string | undefined;
  /** After the request came. Undefined in rows of versions that did not keep it. */
  readonly startMs?: number | undefined;
  readonly durationMs: number;
}

/** What a row says of how an exchange ended. */
export const rowOutcomes = ['ok', 'error', 'refused', 'aborted', 'cut', 'lost'] as const;
/**
 * `ok`: answered below 400. `error`: an upstream's error, or ours after a call was sent. `refused`: nothing was sent. `aborted`:
 * the client left. `cut`: the answer broke off. `lost`: the process ended in between, and nobody knows.
 */
export type RowOutcome = (typeof rowOutcomes)[number];

/** One exchange, as the ledger keeps it. Every field is there; what is not known is null. */
export interface LedgerRow {
  /** The exchange's ID; they sort by time. */
  readonly id: string;
  readonly clientRequestId: string | null;
  readonly startedAtMs: number;
  /** The process that served it. */
  readonly node: string;
  readonly key: string;
  readonly project: string | null;
  /** The canonical path of the route. */
  readonly route: string;
  readonly operation: Operation;
  /** By which the route was dispatched; that of a route of the operator's own is the operator's. */
  readonly label: string;
  readonly model: string | null;
  readonly upstream: string | null;
  /** The upstream's name for the model. */
  readonly upstreamModel: string | null;
  readonly attempts: number;
  readonly tries: readonly TryRecord[];
  readonly outcome: RowOutcome;
  /** What the client was answered; 499 where it had left, 0 where nobody knows. */
  readonly status: number;
  readonly error: string | null;
  /** As the upstream said. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly totalTokens: number | null;
  readonly searchUnits: number | null;
  readonly cachedTokens: number | null;
  /** As billed; estimates where the upstream did not say. Null where nothing was billed. */
  readonly billedInputTokens: number | null;
  readonly billedOutputTokens: number | null;
  readonly billedSearchUnits: number | null;
  readonly isEstimated: boolean;
  readonly items: number;
  /** In nano-dollars; null where the price is not known. */
  readonly costNanos: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly durationMs: number;
  readonly firstByteMs: number | null;
  readonly upstreamMs: number | null;
  /** `hit`, `partial`, `miss`; null where no cache is on. */
  readonly cache: string | null;
  /** Where the operator switched it on. */
  readonly clientAddress: string | null;
  /** Of the trace that it is part of, where traces are kept. */
  readonly traceId: string | null;
  /** In the queues of upstreams, for a slot or a rate limit; null where it had to wait for neither. */
  readonly queueMs: number | null;
  /** What else it is billed by, and what its price hung on. */
  readonly units: Units | null;
}

/** An intent in the journal: enough to make a row where no settlement follows. */
export interface IntentRecord {
  readonly kind: 'intent';
  readonly row: Pick<
    LedgerRow,
    | 'id'
    | 'clientRequestId'
    | 'startedAtMs'
    | 'node'
    | 'key'
    | 'project'
    | 'route'
    | 'operation'
    | 'label'
    | 'model'
    | 'items'
    | 'requestBytes'
    | 'clientAddress'
    | 'traceId'
  >;
  /** What was reserved: what it costs where nobody ever says. */
  readonly reservedNanos: number;
  readonly accounts: readonly string[];
}

export interface SettlementRecord {
  readonly kind: 'settlement';
  readonly row: LedgerRow;
  readonly accounts: readonly string[];
  /** What was asked and answered, redacted, where the key has it kept. */
  readonly capture?: Capture;
}

export interface Capture {
  readonly request: string;
  readonly response: string;
  readonly expiresAtMs: number;
}
