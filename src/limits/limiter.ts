/** Interface of limiters: reserve from the limits of several holders at once, or get refused. */

import type { Holder, HolderKind, Measure } from '../core/caps.ts';

/** The amount of each measure; whole numbers. */
export type Amounts = Readonly<Record<Measure, number>>;

export interface Taken {
  readonly kind: 'taken';
  /** `x-ratelimit-*` after the reservation, as lines of a head. */
  lines(): string;
  /** Adjusts the reservation to the actual use, and ends the exchange's count for concurrency. Idempotent. Never throws. */
  settle(used: Amounts): void;
}

export interface Refused {
  readonly kind: 'refused';
  readonly holder: HolderKind;
  readonly measure: Measure | 'concurrency';
  /** Such as: 60 requests a minute of the key "dev". */
  readonly limit: string;
  /** Until all of it is available if nothing else is taken: exact for rates, a guess for concurrency. */
  readonly retryAfterMs: number;
  /** For the client; see `retryAfterSOf`. */
  readonly retryAfterS: number;
  /** The request is larger than the limit itself, so it never passes. */
  readonly isForever: boolean;
  /** For the client: which limit, and what to do. */
  readonly message: string;
  /** Likewise. */
  lines(): string;
}

/** An exchange that has begun, without a reservation. */
export interface Begun {
  readonly kind: 'begun';
  /** Idempotent. */
  over(): void;
}

export interface Limiter {
  /** Refused where a rate is used up, or the concurrency limit reached, by the counts of this process. Counts as begun until it is over. */
  begin(holders: readonly Holder[]): Begun | Refused;
  /** Reserves under all limits, or none. Fastest with the same array for the same holders. Returns no promise where this process can decide. */
  reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused | Promise<Taken | Refused>;
}
