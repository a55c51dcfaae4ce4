/** Interface of limiters: reserve from the limits of several holders at once, or get refused. */

import type { Holder, HolderKind, Measure } from '../core/caps.ts';

/** How much of each measure; whole numbers. */
export type Amounts = Readonly<Record<Measure, number>>;

export interface Taken {
  readonly kind: 'taken';
  /** `x-ratelimit-*` as they are after it: names and values in turn. */
  headers(): string[];
  /**
   * Says what was used after all: less is given back, more is added, at the time when it was taken. The exchange no longer counts
   * among those at a time. Only the first call does anything. Never throws.
   */
  settle(used: Amounts): void;
}

export interface Refused {
  readonly kind: 'refused';
  /** Whose limit it is, and of what. */
  readonly holder: HolderKind;
  readonly measure: Measure | 'concurrency';
  /** Such as: 60 requests a minute of the key "dev". */
  readonly limit: string;
  /** When all of it will be free, if nobody else takes it: exact for rates, a guess for exchanges at a time. */
  readonly retryAfterMs: number;
  /** What the client is told; see `retryAfterSOf`. */
  readonly retryAfterS: number;
  /** It asks for more than the limit itself, and never passes. */
  readonly isForever: boolean;
  /** For the client: which limit, and what to do. */
  readonly message: string;
  headers(): string[];
}

/** What has begun and taken nothing yet. */
export interface Begun {
  readonly kind: 'begun';
  /** Only the first call does anything. */
  over(): void;
}

export interface Limiter {
  /**
   * Whether something could be taken, by what is counted here: refused where a rate has nothing left, or as many exchanges are
   * open or have begun as may. Until it is over it counts among those that have begun; `reserve` does not count these.
   */
  begin(holders: readonly Holder[]): Begun | Refused;
  /**
   * Takes it under all rates and for all exchanges-at-a-time limits of all holders, or takes nothing. Quickest with the same list
   * object for the same holders. Without a promise where it can be decided here.
   */
  reserve(holders: readonly Holder[], amounts: Amounts): Taken | Refused | Promise<Taken | Refused>;
}
