/** Interface of limiters: they reserve from the limits of several holders at once, or refuse with the time to wait. */

import type { Holder, HolderKind, Measure } from '../core/caps.ts';

/** An amount for each measure (requests, tokens, items); whole numbers. */
export type Amounts = Readonly<Record<Measure, number>>;

export interface Taken {
  readonly kind: 'taken';
  /** The client's `x-ratelimit-*` header lines after the reservation. */
  lines(): string;
  /** Corrects the reservation to the actual use, and ends the exchange's count for concurrency. Idempotent. Never throws. */
  settle(used: Amounts): void;
}

export interface Refused {
  readonly kind: 'refused';
  readonly holder: HolderKind;
  readonly measure: Measure | 'concurrency';
  /** The exceeded limit, such as: 60 requests a minute of the key "dev". */
  readonly limit: string;
  /** Time until the amount is available if nothing else is taken: exact for rates, a guess for concurrency. */
  readonly retryAfterMs: number;
  /** Seconds to wait, for the client; see `retryAfterSOf`. */
  readonly retryAfterS: number;
  /** The request is larger than the limit itself, so it never passes. */
  readonly isForever: boolean;
  /** The message for the client: which limit, and what to do. */
  readonly message: string;
  lines(): string;
}

/** An exchange that has begun and counts for concurrency, without a reservation. */
export interface Begun {
  readonly kind: 'begun';
  /** Ends the counting. Idempotent. */
  over(): void;
}

export interface Limiter {
  /** Counts an exchange as begun until it is over. Refuses where this process's counts have used up a rate or reached the concurrency limit. */
  begin(holders: readonly Holder[]): Begun | Refused;
  /** Reserves under all limits, or none. Fastest with the same array for the same holders. Returns no promise where this process can decide. */
  reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused | Promise<Taken | Refused>;
}
