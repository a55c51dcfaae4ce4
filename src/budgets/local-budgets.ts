/** Reserves each request's cost in all applicable budgets or in none, mostly from money that this node drew before. */

import { toAccount } from '../core/accounting/budget-account.ts';
import type { Budget, BudgetPeriod, Holder, HolderKind } from '../core/caps.ts';
import { GatewayError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { BudgetAccount, BudgetAccountStore } from '../core/store/budgets.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { type AllowanceDeps, LocalAllowance } from './local-allowance.ts';
import { createStoreWatch, NodeLease } from './node-lease.ts';

const lookIntervalMs = 50;
/** Interval between surveys of the held accounts; below it, the number of accounts in one survey. */
const surveyEveryMs = 2_000;
const surveyedAtOnce = 500;
const closedAtOnce = 32;

export interface LocalBudgetsDeps {
  readonly accountStore: BudgetAccountStore;
  /** This process's name in rows of the ledger. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly alerts: BudgetAlerts;
  readonly drawTimeoutMs?: number;
}

interface BudgetAlerts {
  reached(account: BudgetAccount, budget: Budget, percent: number, spentNanos: number): void;
}

export interface LocalBudgets extends Budgets {
  /** Returns the money that no request holds. To be called when no request is left. */
  close(): Promise<void>;
}

type AllowancesOfHolder = Record<BudgetPeriod, LocalAllowance | undefined>;

const noAllowances = (): AllowancesOfHolder => ({
  day: undefined,
  week: undefined,
  month: undefined,
  total: undefined,
});

export function createLocalBudgets(deps: LocalBudgetsDeps): LocalBudgets {
  const { accountStore, node, clock, log, alerts, drawTimeoutMs = 1_000 } = deps;
  const watch = createStoreWatch(log);
  const lease = new NodeLease({ accountStore, node, clock, watch, onLost: forfeitAll });
  const allowanceDeps: AllowanceDeps = {
    accountStore,
    node,
    clock,
    drawTimeoutMs,
    watch,
    lease,
    onThreshold: (account, budget, percent, spentNanos) => alerts.reached(account, budget, percent, spentNanos),
  };
  /** Allowances by account; those of past periods stay while they hold money. */
  const allowances = new Map<string, LocalAllowance>();
  const current: Record<HolderKind, Map<string, AllowancesOfHolder>> = {
    key: new Map(),
    project: new Map(),
    model: new Map(),
    upstream: new Map(),
  };
  const timer = setInterval(look, lookIntervalMs).unref();
  let surveyAtMs = 0;
  let surveyed = 0;
  let isSurveying = false;

  function look(): void {
    if (allowances.size === 0) return;
    const nowMs = clock.monotonicMs();
    const timeMs = clock.nowMs();
    lease.look(nowMs);
    if (!isSurveying) void survey(nowMs);
    for (const [id, allowance] of allowances) {
      if (!allowance.look(nowMs, timeMs >= allowance.account.endsAtMs)) continue;
      allowances.delete(id);
      forget(allowance);
    }
  }

  /** Reads what other nodes drew and spent, so that none holds more than its part for long. Surveys take turns over many accounts. */
  async function survey(nowMs: number): Promise<void> {
    const some = nowMs >= surveyAtMs ? nextToSurvey() : outOfDate();
    if (nowMs >= surveyAtMs) surveyAtMs = nowMs + surveyEveryMs;
    if (some.length === 0) return;
    isSurveying = true;
    try {
      const accounts = some.map((allowance) => allowance.account.id);
      const states = await watch.ask(accountStore.states(accounts), surveyEveryMs, true);
      for (const allowance of some) {
        const state = states.get(allowance.account.id);
        if (state !== undefined) allowance.hear(state);
      }
    } catch {
      // The store watch logs the error; until the store answers again each node keeps its money.
    } finally {
      isSurveying = false;
    }
  }

  function nextToSurvey(): LocalAllowance[] {
    const holding = [...allowances.values()].filter(({ isHolding }) => isHolding);
    const from = surveyed < holding.length ? surveyed : 0;
    surveyed = from + surveyedAtOnce;
    return holding.slice(from, surveyed);
  }

  function outOfDate(): LocalAllowance[] {
    const found: LocalAllowance[] = [];
    for (const allowance of allowances.values()) {
      if (allowance.isHolding && allowance.isOutOfDate && found.length < surveyedAtOnce) found.push(allowance);
    }
    return found;
  }

  function forfeitAll(): void {
    log.warn('node budget lease expired');
    for (const allowance of allowances.values()) allowance.forfeit();
  }

  function forget(allowance: LocalAllowance): void {
    const { holderKind, holderId } = allowance.account;
    const ofHolder = current[holderKind].get(holderId);
    if (ofHolder === undefined) return;
    const { period } = allowance;
    if (ofHolder[period] === allowance) ofHolder[period] = undefined;
    if (Object.values(ofHolder).every((one) => one === undefined)) current[holderKind].delete(holderId);
  }

  function find(holder: Holder, budget: Budget, atMs: number): LocalAllowance {
    const ofHolder = getOrMake(current[holder.kind], holder.id, noAllowances);
    let allowance = ofHolder[budget.period];
    if (allowance?.isFor(atMs) !== true) {
      const account = toAccount(holder, budget, atMs);
      allowance = allowances.get(account.id) ?? new LocalAllowance(account, budget, allowanceDeps);
      allowances.set(account.id, allowance);
      ofHolder[budget.period] = allowance;
    }
    allowance.follow(budget);
    return allowance;
  }

  function reserve(
    holders: readonly Holder[],
    nanos: number,
    beganAtMs = clock.nowMs(),
  ): BudgetHold | Promise<BudgetHold> {
    let hold: Hold | undefined;
    for (const holder of holders) {
      for (const budget of holder.caps.budgets) {
        const allowance = find(holder, budget, beganAtMs);
        if (hold === undefined) hold = new Hold(nanos, allowance);
        else hold.add(allowance);
      }
    }
    return hold === undefined ? nothing : hold.take();
  }

  async function close(): Promise<void> {
    clearInterval(timer);
    const left = [...allowances.values()];
    while (left.length > 0) await Promise.all(left.splice(0, closedAtOnce).map((allowance) => allowance.close()));
  }

  return { reserve, close };
}

const nothing: BudgetHold = Object.freeze({ accounts: Object.freeze([]), settle: () => undefined });

/** The reservations of one exchange, in each budget that applies. */
class Hold implements BudgetHold {
  readonly accounts: string[];
  readonly #allowances: LocalAllowance[];
  readonly #nanos: number;
  #isSettled = false;

  constructor(nanos: number, first: LocalAllowance) {
    this.#nanos = nanos;
    this.accounts = [first.account.id];
    this.#allowances = [first];
  }

  add(allowance: LocalAllowance): void {
    if (this.#allowances.includes(allowance)) return;
    this.#allowances.push(allowance);
    this.accounts.push(allowance.account.id);
  }

  take(): Hold | Promise<Hold> {
    const allowances = this.#allowances;
    for (const allowance of allowances) if (allowance.isSpentFor(this.#nanos)) throw allowance.refusal(this.#nanos);
    for (let taken = 0; taken < allowances.length; taken++) {
      if (allowances[taken]?.takeAtOnce(this.#nanos) === true) continue;
      return this.#takeRest(taken);
    }
    return this;
  }

  settle(costNanos: number): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    for (const allowance of this.#allowances) allowance.settle(this.#nanos, costNanos);
  }

  async #takeRest(taken: number): Promise<Hold> {
    const nanos = this.#nanos;
    const results = await Promise.allSettled(
      this.#allowances.map((allowance, index) =>
        index < taken || allowance.takeAtOnce(nanos) ? undefined : allowance.takeLater(nanos),
      ),
    );
    const errors: unknown[] = [];
    for (const result of results) if (result.status === 'rejected') errors.push(result.reason);
    if (errors.length === 0) return this;
    this.#allowances.forEach((allowance, index) => {
      if (results[index]?.status === 'fulfilled') allowance.settle(nanos, 0);
    });
    // Of several errors, a spent budget is the more lasting one.
    throw errors.find((error) => error instanceof GatewayError && error.code === 'budget_exceeded') ?? errors[0];
  }
}

export interface Budgets {
  /**
   * Reserves the amount from every budget of all holders, or from none. Throws `budget_exceeded`, or `store_unavailable` where money cannot be
   * counted. Returns no promise where this process can decide alone. `beganAtMs` selects the periods, as an exchange belongs to the day it began;
   * now, where it is left out.
   */
  reserve(holders: readonly Holder[], nanos: number, beganAtMs?: number): BudgetHold | Promise<BudgetHold>;
}

export interface BudgetHold {
  /** IDs of the accounts, as in `BudgetAccountStore`. */
  readonly accounts: readonly string[];
  /** To be called once, with the cost in nano-dollars; the rest of the reservation becomes available. */
  settle(costNanos: number): void;
}
