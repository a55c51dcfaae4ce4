/** Budget accounts with spent and drawn money, shared by all nodes. */

import type { HolderKind } from '../caps.ts';

/** One budget's money within one period. */
export interface BudgetAccount {
  /** `key/dev/month/2026-11-01`: holder kind, ID, period, first day; the name is its own key. */
  readonly id: string;
  readonly holderKind: HolderKind;
  readonly holderId: string;
  readonly startsAtMs: number;
  /** Infinity where it never ends. */
  readonly endsAtMs: number;
  readonly nanos: number;
}

export interface AccountState {
  readonly spentNanos: number;
  /** Drawn by nodes, and not spent as far as the store knows. */
  readonly outstandingNanos: number;
  /** Nodes of which something is outstanding. */
  readonly holders: number;
}

/**
 * Budgets over any number of nodes. A node draws money before it is spent, and the import of its rows says what was spent:
 * spent + outstanding never exceeds the budget by more than rows cost beyond what was reserved for them.
 */
export interface BudgetAccountStore {
  /**
   * Grants between `leastNanos` and `wantNanos`, or 0; and beyond that up to the node's part of what is held ahead, see
   * `shareAheadNanos`. An account that is not there yet begins with what the sums of the ledger say for its holder since `startsAtMs`.
   */
  draw(
    account: BudgetAccount,
    node: string,
    leastNanos: number,
    wantNanos: number,
    unitNanos?: number,
  ): Promise<AccountState & { readonly grantedNanos: number }>;
  /** What a node drew and will not need. */
  giveBack(accountId: string, node: string, nanos: number): Promise<void>;
  /** The node is gone, and all its rows are here: what it drew and did not spend is free again. */
  release(node: string): Promise<void>;
  state(accountId: string): Promise<AccountState | undefined>;
  /** Of many at once; those that are not there are left out. */
  states(accountIds: readonly string[]): Promise<ReadonlyMap<string, AccountState>>;
  /**
   * The node is there; what others drew that were not heard of for `lostAfterMs` is free again. False where the node is new, or was taken for
   * lost: then nothing is drawn by it any more.
   */
  renew(node: string): Promise<boolean>;
}

/** A node that cannot reach the account store spends what it drew for so long. */
export const spendsAloneMs = 600_000;
/** A node that was not heard of for so long is lost, and what it drew comes back. */
export const lostAfterMs = 3_600_000;

/** A node holds something ahead where its part is worth so many requests; where it is less, others need it sooner. */
const requestsWorthHolding = 16;

/**
 * Half of what is left is for those who need it now. The other half is held ahead, in equal parts by all nodes that hold anything; for as
 * long as the store is away each lives on its part. `unitNanos`: what a request can cost at most; of 0 nothing is known, and nothing held.
 */
export function shareAheadNanos(leftNanos: number, holders: number, unitNanos: number): number {
  const shareNanos = Math.floor(leftNanos / (2 * Math.max(1, holders)));
  return unitNanos > 0 && shareNanos >= requestsWorthHolding * unitNanos ? shareNanos : 0;
}
