/** Budget accounts with spent and drawn money, shared by all nodes. */

import type { HolderKind } from '../caps.ts';

export interface BudgetAccount {
  /** `key/dev/month/2026-11-01`: holder kind, ID, period, first day; the name is its own key. */
  readonly id: string;
  readonly holderKind: HolderKind;
  readonly holderId: string;
  readonly startsAtMs: number;
  /** Infinite for `total`. */
  readonly endsAtMs: number;
  readonly nanos: number;
}

export interface AccountState {
  readonly spentNanos: number;
  /** Drawn by nodes, and not yet spent in the store's accounts. */
  readonly outstandingNanos: number;
  readonly holders: number;
}

/**
 * Budgets over any number of nodes. A node draws money before it is spent, and the import of its rows books what was spent: spent + outstanding never
 * exceeds the budget except by what rows cost beyond their reservations.
 */
export interface BudgetAccountStore {
  /**
   * Grants between `leastNanos` and `wantNanos`, or 0; and further up to the node's part of the money held ahead, see `shareAheadNanos`. A new
   * account begins with the ledger's sums of its holder since `startsAtMs`.
   */
  draw(
    account: BudgetAccount,
    node: string,
    leastNanos: number,
    wantNanos: number,
    unitNanos?: number,
  ): Promise<AccountState & { readonly grantedNanos: number }>;
  /** Returns drawn money that the node does not need. */
  giveBack(accountId: string, node: string, nanos: number): Promise<void>;
  /** The node is gone, and all its rows are imported: what it drew and did not spend is returned. */
  release(node: string): Promise<void>;
  state(accountId: string): Promise<AccountState | undefined>;
  /** Unknown accounts are left out. */
  states(accountIds: readonly string[]): Promise<ReadonlyMap<string, AccountState>>;
  /** Renews the node's lease. False where the node is new, or was declared lost after `lostAfterMs`: then it holds no drawn money. */
  renew(node: string): Promise<boolean>;
}

/** How long a node that cannot reach the account store may spend what it drew. */
export const spendsAloneMs = 600_000;
/** A node that did not renew for so long is lost, and what it drew is returned. */
export const lostAfterMs = 3_600_000;

/** A node holds money ahead only where its part covers so many requests; else other nodes need it sooner. */
const requestsWorthHolding = 16;

/**
 * Half of what is left serves current needs. The other half is held ahead, in equal parts by all nodes that hold anything: while the store is
 * unreachable each spends its part. `unitNanos`: what a request can cost at most; 0: unknown, and nothing is held.
 */
export function shareAheadNanos(leftNanos: number, holders: number, unitNanos: number): number {
  const shareNanos = Math.floor(leftNanos / (2 * Math.max(1, holders)));
  return unitNanos > 0 && shareNanos >= requestsWorthHolding * unitNanos ? shareNanos : 0;
}
