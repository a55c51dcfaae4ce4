/** Interface to budget accounts, which all nodes share: how much money each budget period has spent, and how much nodes have drawn. */

import type { HolderKind } from '../caps.ts';

export interface BudgetAccount {
  /** The account's key in the store: holder kind, ID, period and first day, such as `key/dev/month/2026-11-01`. */
  readonly id: string;
  readonly holderKind: HolderKind;
  readonly holderId: string;
  readonly startsAtMs: number;
  /** End of the period; infinite for `total`. */
  readonly endsAtMs: number;
  readonly nanos: number;
}

export interface AccountState {
  readonly spentNanos: number;
  /** Money that nodes have drawn and not yet spent, by the store's accounts. */
  readonly outstandingNanos: number;
  readonly holdingNodes: number;
}

/**
 * Counts budgets over any number of nodes. A node draws money before it is spent, and the import of its rows books what was spent: spent +
 * outstanding never exceeds the budget except by what rows cost beyond their reservations.
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
  /** Called where the node is gone and all its rows are imported: returns the money that it drew and did not spend. */
  release(node: string): Promise<void>;
  state(accountId: string): Promise<AccountState | undefined>;
  /** The states of several accounts; unknown accounts are left out. */
  states(accountIds: readonly string[]): Promise<ReadonlyMap<string, AccountState>>;
  /** Renews the node's lease. False where the node is new, or was declared lost after `lostAfterMs`: it then holds no drawn money. */
  renew(node: string): Promise<boolean>;
}

/** How long a node that cannot reach the account store may spend what it drew. */
export const spendsAloneMs = 600_000;
/** A node that has not renewed its lease for so long is lost, and the money it drew is returned. */
export const lostAfterMs = 3_600_000;

/** A node holds money ahead only where its part covers this many requests; else other nodes need the money sooner. */
const requestsWorthHolding = 16;

/**
 * The money that a node may hold ahead. Half of what is left serves current needs; the other half is shared equally by all nodes that hold anything,
 * and each spends its part while the store is unreachable. `unitNanos`: the most that one request can cost; 0: unknown, and nothing is held.
 */
export function shareAheadNanos(leftNanos: number, holdingNodes: number, unitNanos: number): number {
  const shareNanos = Math.floor(leftNanos / (2 * Math.max(1, holdingNodes)));
  return unitNanos > 0 && shareNanos >= requestsWorthHolding * unitNanos ? shareNanos : 0;
}
