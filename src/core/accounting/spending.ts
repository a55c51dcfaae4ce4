/** Interface between pipeline and accounting: reserves what a request may use, and settles it once. */

import type { RoutePlan } from '../dispatch.ts';
import type { GatewayError } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import type { KeyRecord } from '../key.ts';
import type { Upstream } from '../snapshot.ts';
import type { RequestEstimate } from './price.ts';

/** What was taken for one exchange under every limit and budget that applies. */
export interface Reservation {
  /** `x-ratelimit-*` of the tightest limits: names and values in turn; empty where the key has none. */
  readonly headers: readonly string[];
  /** The most that the exchange can cost, in nano-dollars; 0 where its price is not known. */
  readonly nanos: number;
  /** The accounts of the budgets that it is charged to; see `BudgetAccountStore`. */
  readonly accounts: readonly string[];
  /**
   * Before each call: takes from the caps of the upstream itself. Undefined where it may go; else how long until it may,
   * with the limit in words. `part`: of a list that is asked for in parts, the one that it is for.
   */
  enter(upstream: Upstream, part?: Exchange): Denial | undefined | Promise<Denial | undefined>;
  /** Its client has its answer, and what that costs is known later: limits count what was likely, the money stays reserved. */
  endLimits(): void;
  /** Once, when `exchange.bill` says what was used: null gives everything back but the request itself. Never throws. */
  settle(exchange: Exchange): void;
}

/** Nothing is taken; what it can cost at most is for the ledger, should nobody ever say what it did. */
export const freeReservation = (nanos: number): Reservation => ({
  headers: none,
  nanos,
  accounts: none,
  enter: nothingToDo,
  endLimits: nothingToDo,
  settle: nothingToDo,
});

const none: readonly string[] = Object.freeze([]);
const nothingToDo = (): undefined => undefined;

/** What no price says anything of. */
export interface Unpriced {
  /** The field that asks for it. */
  readonly param: string;
  /** Where its price would stand. */
  readonly setting: string;
}

export interface Denial {
  readonly retryAfterMs: number;
  /** Such as: 60 requests a minute of the upstream "openai". */
  readonly limit: string;
  /** It is about money: spent, or not to be looked up. Where nobody else can be asked, this is the answer. */
  readonly error?: GatewayError;
}

/** An exchange whose body is not read yet. */
export interface Beginning {
  /** It counts no longer: what it takes is decided, or it has ended. Only the first time does anything. */
  over(): void;
}

export interface Spending {
  /**
   * Before the body is read, by what this process has counted: throws `rate_limit_exceeded` where the key has as many exchanges as
   * it may, or a rate of it is used up. It counts among the key's exchanges until it is over. Undefined where nothing is limited.
   */
  begin(key: KeyRecord): Beginning | undefined;
  /**
   * All or nothing. Throws `rate_limit_exceeded`, `budget_exceeded`, or `store_unavailable` where money cannot be counted.
   * Without a promise where it can be decided here. `isCounted`: limits have counted it before, and only budgets are asked.
   */
  reserve(
    exchange: Exchange,
    routePlan: RoutePlan,
    estimate: RequestEstimate,
    before?: { readonly isCounted?: boolean },
  ): Reservation | Promise<Reservation>;
}
