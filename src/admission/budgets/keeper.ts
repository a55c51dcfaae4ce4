/** Keeps budgets at a node: takes from every one that applies, all or nothing, mostly from what was drawn before. */

import type { Budget, BudgetPeriod, Holder, HolderKind } from '../../core/caps.ts';
import { GatewayError } from '../../core/errors.ts';
import type { BudgetAccount, BudgetBank } from '../../core/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { toAccount } from './periods.ts';
import type { BudgetHold, BudgetKeeper } from './port.ts';
import { Purse, type PurseDeps } from './purse.ts';
import { type BudgetLog, createStoreWatch } from './store-watch.ts';

const lookIntervalMs = 50;
/** At the end, so many accounts at a time. */
const closedAtOnce = 32;

export interface BudgetKeeperDeps {
  readonly bank: BudgetBank;
  /** The name of this process, as in the rows of the ledger. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: BudgetLog;
  readonly alerts: BudgetAlerts;
  /** How long a request waits for the store. */
  readonly drawTimeoutMs?: number;
}

/** Tells operators, once each. */
interface BudgetAlerts {
  reached(account: BudgetAccount, budget: Budget, percent: number, spentNanos: number): void;
}

export interface RunningBudgetKeeper extends BudgetKeeper {
  /** Gives back what no request holds. To be called when none is left. */
  close(): Promise<void>;
}

type PursesOfHolder = Record<BudgetPeriod, Purse | undefined>;

export function createBudgetKeeper(deps: BudgetKeeperDeps): RunningBudgetKeeper {
  const { bank, node, clock, log, alerts, drawTimeoutMs = 1_000 } = deps;
  const purseDeps: PurseDeps = {
    bank,
    node,
    clock,
    drawTimeoutMs,
    watch: createStoreWatch(clock, log),
    onThreshold: (account, budget, percent, spentNanos) => alerts.reached(account, budget, percent, spentNanos),
  };
  /** By account; those of periods that are over too, while something of them is here. */
  const purses = new Map<string, Purse>();
  const current: Record<HolderKind, Map<string, PursesOfHolder>> = {
    key: new Map(),
    project: new Map(),
    model: new Map(),
    upstream: new Map(),
  };
  const timer = setInterval(look, lookIntervalMs).unref();

  function look(): void {
    const nowMs = clock.monotonicMs();
    const timeMs = clock.nowMs();
    for (const [id, purse] of purses) {
      if (!purse.look(nowMs, timeMs >= purse.account.endsAtMs)) continue;
      purses.delete(id);
      forget(purse);
    }
  }

  function forget(purse: Purse): void {
    const { holderKind, holderId } = purse.account;
    const ofHolder = current[holderKind].get(holderId);
    if (ofHolder === undefined) return;
    const { period } = purse;
    if (ofHolder[period] === purse) ofHolder[period] = undefined;
    if (Object.values(ofHolder).every((one) => one === undefined)) current[holderKind].delete(holderId);
  }

  function find(holder: Holder, budget: Budget, nowMs: number): Purse {
    let ofHolder = current[holder.kind].get(holder.id);
    if (ofHolder === undefined) {
      ofHolder = { day: undefined, week: undefined, month: undefined, total: undefined };
      current[holder.kind].set(holder.id, ofHolder);
    }
    let purse = ofHolder[budget.period];
    if (purse?.isFor(nowMs) !== true) {
      const account = toAccount(holder, budget, nowMs);
      purse = purses.get(account.id) ?? new Purse(account, budget, purseDeps);
      purses.set(account.id, purse);
      ofHolder[budget.period] = purse;
    }
    purse.follow(budget);
    return purse;
  }

  function reserve(holders: readonly Holder[], nanos: number): BudgetHold | Promise<BudgetHold> {
    let hold: Hold | undefined;
    let nowMs = 0;
    for (const holder of holders) {
      for (const budget of holder.caps.budgets) {
        if (hold === undefined) {
          hold = new Hold(nanos);
          nowMs = clock.nowMs();
        }
        hold.add(find(holder, budget, nowMs));
      }
    }
    return hold === undefined ? nothing : hold.take();
  }

  async function close(): Promise<void> {
    clearInterval(timer);
    const left = [...purses.values()];
    while (left.length > 0) await Promise.all(left.splice(0, closedAtOnce).map((purse) => purse.close()));
  }

  return { reserve, close };
}

const nothing: BudgetHold = Object.freeze({ accounts: Object.freeze([]), settle: () => undefined });

/** What one exchange took from each budget that applies to it. */
class Hold implements BudgetHold {
  readonly accounts: string[] = [];
  readonly #purses: Purse[] = [];
  readonly #nanos: number;
  #isSettled = false;

  constructor(nanos: number) {
    this.#nanos = nanos;
  }

  add(purse: Purse): void {
    if (this.#purses.includes(purse)) return;
    this.#purses.push(purse);
    this.accounts.push(purse.account.id);
  }

  /** From all or from none. */
  take(): Hold | Promise<Hold> {
    const purses = this.#purses;
    for (const purse of purses) if (purse.isSpentFor(this.#nanos)) throw purse.refusal(this.#nanos);
    for (let taken = 0; taken < purses.length; taken++) {
      if (purses[taken]?.takeAtOnce(this.#nanos) === true) continue;
      return this.#takeRest(taken);
    }
    return this;
  }

  settle(costNanos: number): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const purse of this.#purses) purse.settle(this.#nanos, costNanos);
  }

  async #takeRest(taken: number): Promise<Hold> {
    const nanos = this.#nanos;
    const results = await Promise.allSettled(
      this.#purses.map((purse, index) =>
        index < taken || purse.takeAtOnce(nanos) ? undefined : purse.takeLater(nanos),
      ),
    );
    const errors: unknown[] = [];
    for (const result of results) if (result.status === 'rejected') errors.push(result.reason);
    if (errors.length === 0) return this;
    this.#purses.forEach((purse, index) => {
      if (results[index]?.status === 'fulfilled') purse.settle(nanos, 0);
    });
    // That a budget is spent is the more lasting news.
    throw errors.find((error) => error instanceof GatewayError && error.code === 'budget_exceeded') ?? errors[0];
  }
}
