/** An in-memory budget account store: the same rules in short form, with switchable faults. */

import { type BudgetAccount, type BudgetAccountStore, shareAheadNanos } from '../../../src/core/store/budgets.ts';

interface Lease {
  drawn: number;
  spent: number;
}

export interface MemoryAccountStore extends BudgetAccountStore {
  /** As the import of a row does. */
  book(accountId: string, node: string, costNanos: number): void;
  readonly calls: { draw: number; giveBack: number; state: number };
  /** Waited for before each call is answered; throws where it fails. */
  before: () => Promise<void>;
  /** What becomes of a node that was lost. */
  forget(node: string): void;
  /** Spent and outstanding. */
  takenOf(accountId: string): number;
  drawnBy(accountId: string, node: string): number;
}

export function createMemoryAccountStore(): MemoryAccountStore {
  const spent = new Map<string, number>();
  const leases = new Map<string, Map<string, Lease>>();
  const known = new Set<string>();

  function leasesOf(accountId: string): Map<string, Lease> {
    const found = leases.get(accountId) ?? new Map<string, Lease>();
    leases.set(accountId, found);
    return found;
  }

  function leaseOf(accountId: string, node: string): Lease {
    const found = leasesOf(accountId).get(node) ?? { drawn: 0, spent: 0 };
    leasesOf(accountId).set(node, found);
    return found;
  }

  const outstandingOf = (accountId: string): number =>
    [...leasesOf(accountId).values()].reduce((sum, { drawn, spent: used }) => sum + Math.max(0, drawn - used), 0);

  const stateOf = (accountId: string) => ({
    spentNanos: spent.get(accountId) ?? 0,
    outstandingNanos: outstandingOf(accountId),
    holdingNodes: [...leasesOf(accountId).values()].filter(({ drawn, spent: used }) => drawn > used).length,
  });

  const accountStore: MemoryAccountStore = {
    calls: { draw: 0, giveBack: 0, state: 0 },
    before: async () => undefined,

    async draw(account: BudgetAccount, node, leastNanos, wantNanos, unitNanos = 0) {
      accountStore.calls.draw += 1;
      await accountStore.before();
      if (!spent.has(account.id)) spent.set(account.id, 0);
      const lease = leaseOf(account.id, node);
      const owed = Math.max(0, lease.spent - lease.drawn);
      const { spentNanos, outstandingNanos } = stateOf(account.id);
      const free = account.nanos - spentNanos - outstandingNanos + owed;
      if (free < Math.max(1, leastNanos)) return { ...stateOf(account.id), grantedNanos: 0 };
      const needed = Math.min(free, wantNanos);
      lease.drawn += needed;
      const now = stateOf(account.id);
      const left = account.nanos - now.spentNanos;
      const own = Math.max(0, lease.drawn - lease.spent);
      const holdingNodes = own > 0 ? now.holdingNodes : now.holdingNodes + 1;
      const part = shareAheadNanos(left, holdingNodes, unitNanos) - own;
      const ahead = Math.max(0, Math.min(part, Math.floor(left / 2) - now.outstandingNanos, free - needed));
      lease.drawn += ahead;
      return { ...stateOf(account.id), grantedNanos: needed + ahead };
    },

    async giveBack(accountId, node, nanos) {
      accountStore.calls.giveBack += 1;
      await accountStore.before();
      const lease = leaseOf(accountId, node);
      lease.drawn = Math.max(lease.drawn - nanos, Math.min(lease.drawn, lease.spent));
    },

    async release(node) {
      await accountStore.before();
      accountStore.forget(node);
    },

    async states(accountIds) {
      await accountStore.before();
      return new Map(accountIds.filter((id) => spent.has(id)).map((id) => [id, stateOf(id)]));
    },

    async renew(node) {
      await accountStore.before();
      const isKnown = known.has(node);
      known.add(node);
      return isKnown;
    },

    forget(node) {
      known.delete(node);
      for (const ofAccount of leases.values()) ofAccount.delete(node);
    },

    async state(accountId) {
      accountStore.calls.state += 1;
      await accountStore.before();
      return spent.has(accountId) ? stateOf(accountId) : undefined;
    },

    book(accountId, node, costNanos) {
      const before = spent.get(accountId);
      if (before === undefined) return;
      spent.set(accountId, before + costNanos);
      leaseOf(accountId, node).spent += costNanos;
    },

    takenOf(accountId) {
      const { spentNanos, outstandingNanos } = stateOf(accountId);
      return spentNanos + outstandingNanos;
    },

    drawnBy: (accountId, node) => leasesOf(accountId).get(node)?.drawn ?? 0,
  };
  return accountStore;
}
