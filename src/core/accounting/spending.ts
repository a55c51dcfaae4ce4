/** Interfaces between pipeline and accounting: reservations of what a request may use, and the ledger's records. Each settles once. */

import type { RoutePlan } from '../dispatch.ts';
import type { GatewayError } from '../errors.ts';
import type { Beginning, Exchange } from '../exchange.ts';
import type { KeyRecord } from '../key.ts';
import type { Upstream } from '../snapshot.ts';
import type { RequestEstimate } from './price.ts';

/** What one exchange reserved under every limit and budget that applies. */
export interface Reservation {
  /** `x-ratelimit-*` of the tightest limits, as lines of a head; empty where the key has none. */
  readonly rateLines: string;
  /** Upper bound of the cost; 0 where the price is unknown. */
  readonly nanos: number;
  /** The budget accounts that it is charged to; see `BudgetAccountStore`. */
  readonly accounts: readonly string[];
  /** Before each call: reserves from the upstream's own caps. Undefined where the call may be sent. `part`: of a list, the part to send. */
  enter(upstream: Upstream, part?: Exchange): Denial | undefined | Promise<Denial | undefined>;
  /** The client has its answer, and the cost is known later: limits count what was likely, the money stays reserved. */
  endLimits(): void;
  /** Called once, when `exchange.bill` is known: null gives everything back but the request itself. Never throws. */
  settle(exchange: Exchange): void;
}

/** Nothing is reserved; `nanos` is for the ledger, should the actual cost stay unknown. */
export const freeReservation = (nanos: number): Reservation => ({
  rateLines: '',
  nanos,
  accounts: none,
  enter: nothingToDo,
  endLimits: nothingToDo,
  settle: nothingToDo,
});

const none: readonly string[] = Object.freeze([]);
const nothingToDo = (): undefined => undefined;

/** A billed unit that has no price. */
export interface Unpriced {
  /** The request field that asks for it. */
  readonly param: string;
  /** The setting that would hold its price. */
  readonly setting: string;
}

export interface Denial {
  readonly retryAfterMs: number;
  /** Such as: 60 requests a minute of the upstream "openai". */
  readonly limit: string;
  /** About money: spent, or not to be looked up. It is the answer where no other target can be asked. */
  readonly error?: GatewayError;
}

export interface Spending {
  /** Counts the exchange before its body is read. Throws `rate_limit_exceeded` by this process's counts. Undefined where the key has no limits. */
  begin(key: KeyRecord): Beginning | undefined;
  /**
   * All or nothing. Throws `rate_limit_exceeded`, `budget_exceeded`, or `store_unavailable` where money cannot be counted. Returns no promise where
   * this process can decide alone. `isCounted`: limits have counted it already, and only budgets are checked.
   */
  reserve(
    exchange: Exchange,
    routePlan: RoutePlan,
    estimate: RequestEstimate,
    before?: { readonly isCounted?: boolean },
  ): Reservation | Promise<Reservation>;
}

export interface LedgerWaiter {
  onWritten(): void;
  /** `error` is a `store_unavailable`. */
  onNotWritten(error: unknown): void;
}

/** A start record before a request is sent, and a settlement before the client sees the end. */
export interface Ledger {
  /** Resolves when the intent is as durable as configured; rejects with `store_unavailable` where it cannot be. */
  open(exchange: Exchange, reservation: Reservation): Promise<void>;
  /** The same for the result; also for a request refused before anything was sent, where the key is known. */
  settle(exchange: Exchange, reservation: Reservation | undefined): Promise<void>;
  /** As `open` and `settle`. */
  openFor(waiter: LedgerWaiter, exchange: Exchange, reservation: Reservation): void;
  settleFor(waiter: LedgerWaiter, exchange: Exchange, reservation: Reservation | undefined): void;
}
