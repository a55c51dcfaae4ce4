/** The port between spending and budgets. */

import type { Holder } from '../core/caps.ts';

export interface Budgets {
  /**
   * Takes so much from every budget of every holder, all or nothing. Throws `budget_exceeded`, or `store_unavailable` where money
   * cannot be counted. Without a promise where it can be decided here. It is for the periods that `beganAtMs` falls into: an exchange
   * belongs to the day in which it began, in the sums of the ledger as in budgets. Now, where it is left out.
   */
  reserve(holders: readonly Holder[], nanos: number, beganAtMs?: number): BudgetHold | Promise<BudgetHold>;
}

export interface BudgetHold {
  /** See `BudgetAccountStore`. */
  readonly accounts: readonly string[];
  /** Once: what it cost, in nano-dollars; the rest is free again. */
  settle(costNanos: number): void;
}
