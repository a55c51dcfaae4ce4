/** Interfaces to reserve what a request may use from limits and budgets, and to record the request in the ledger; each is settled once. */

import type { RoutePlan } from '../dispatch.ts';
import type { GatewayError } from '../errors.ts';
import type { Beginning, Exchange } from '../exchange.ts';
import type { KeyRecord } from '../key.ts';
import type { Upstream } from '../snapshot.ts';
import type { RequestEstimate } from './price.ts';

/** Amounts that one exchange reserved under every limit and budget that applies. */
export interface Reservation {
  /** The client's `x-ratelimit-*` header lines for the tightest limits; empty where the key has none. */
  readonly rateLines: string;
  /** Upper bound of the cost; 0 where the price is unknown. */
  readonly nanos: number;
  /** IDs of the budget accounts that the cost is charged to; see `BudgetAccountStore`. */
  readonly accounts: readonly string[];
  /** Before each call: reserves from the upstream's own limits. Returns undefined where the call may be sent. `part`: the part of a list to send. */
  enter(upstream: Upstream, part?: Exchange): Denial | undefined | Promise<Denial | undefined>;
  /** Called where the client has its answer but the cost comes later: limits count the likely use, the money stays reserved. */
  endLimits(): void;
  /** Called once, when `exchange.bill` is known: null gives everything back but the request itself. Never throws. */
  settle(exchange: Exchange): void;
}

/** A reservation of nothing; `nanos` is what the ledger charges if the actual cost stays unknown. */
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

/** A billed unit without a configured price. */
export interface Unpriced {
  readonly param: string;
  /** The setting that would hold the unit's price. */
  readonly setting: string;
}

export interface Denial {
  readonly retryAfterMs: number;
  /** The limit in words, such as: 60 requests a minute of the upstream "openai". */
  readonly limit: string;
  /** Set where a budget is spent or cannot be read: the client's error if no other target can be called. */
  readonly error?: GatewayError;
}

export interface Spending {
  /** Counts the exchange before its body is read. Throws `rate_limit_exceeded` by this process's counts. Undefined where the key has no limits. */
  begin(key: KeyRecord): Beginning | undefined;
  /**
   * Reserves under all limits and budgets, or none. Throws `rate_limit_exceeded`, `budget_exceeded`, or `store_unavailable` where money cannot be
   * counted. Returns no promise where this process can decide alone. `isCounted`: limits have counted the exchange, only budgets are checked.
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
  /** `error` has the code `store_unavailable`. */
  onNotWritten(error: unknown): void;
}

/** Records the start of each request before anything is sent, and its settlement before the client sees the end. */
export interface Ledger {
  /** Records the start. Resolves when it is as durable as configured; rejects with `store_unavailable` where it cannot be. */
  open(exchange: Exchange, reservation: Reservation): Promise<void>;
  /** Records the result as durably as `open` records the start; also for a request refused before anything was sent, where the key is known. */
  settle(exchange: Exchange, reservation: Reservation | undefined): Promise<void>;
  /** `openFor` and `settleFor` do the same as `open` and `settle`, but notify a waiter in place of a promise. */
  openFor(waiter: LedgerWaiter, exchange: Exchange, reservation: Reservation): void;
  settleFor(waiter: LedgerWaiter, exchange: Exchange, reservation: Reservation | undefined): void;
}
