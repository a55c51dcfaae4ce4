/** Keeps budgets at a node: takes from every one that applies, all or nothing, mostly from what was drawn before. */

import { toAccount } from '../core/accounting/budget-account.ts';
import type { Budget, BudgetPeriod, Holder, HolderKind } from '../core/caps.ts';
import { GatewayError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { BudgetAccount, BudgetBank } from '../core/store/budgets.ts';
import type { Clock } from '../lib/clock.ts';
import { NodeLease } from './node-lease.ts';
import type { BudgetHold, BudgetKeeper } from './port.ts';
import { Purse, type PurseDeps } from './purse.ts';
import { createStoreWatch } from './store-watch.ts';

const lookIntervalMs = 50;
/** How what is held here stands in the bank is asked so often, of so many accounts at a time. */
const surveyEveryMs = 2_000;
const surveyedAtOnce = 500;
/** At the end, so many accounts at a time. */
const closedAtOnce = 32;

export interface BudgetKeeperDeps {
  readonly bank: BudgetBank;
  /** The name of this process, as in the rows of the ledger. */
  readonly node: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly alerts: BudgetAlerts;
  /** How long one call of the bank may take before it counts as failed. */
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
  const watch = createStoreWatch(log);
  const lease = new NodeLease({ bank, node, clock, watch, onLost: forfeitAll });
  const purseDeps: PurseDeps = {
    bank,
    node,
    clock,
    drawTimeoutMs,
    watch,
    lease,
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
  let surveyAtMs = 0;
  let surveyed = 0;
  let isSurveying = false;

  function look(): void {
    if (purses.size === 0) return;
    const nowMs = clock.monotonicMs();
    const timeMs = clock.nowMs();
    lease.look(nowMs);
    if (!isSurveying) void survey(nowMs);
    for (const [id, purse] of purses) {
      if (!purse.look(nowMs, timeMs >= purse.account.endsAtMs)) continue;
      purses.delete(id);
      forget(purse);
    }
  }

  /** What others drew and spent, so that nobody holds more than its part for long. Of very many accounts some at each time. */
  async function survey(nowMs: number): Promise<void> {
    const some = nowMs >= surveyAtMs ? nextToSurvey() : outOfDate();
    if (nowMs >= surveyAtMs) surveyAtMs = nowMs + surveyEveryMs;
    if (some.length === 0) return;
    isSurveying = true;
    try {
      const states = await watch.ask(bank.states(some.map((purse) => purse.account.id)), surveyEveryMs);
      for (const purse of some) {
        const state = states.get(purse.account.id);
        if (state !== undefined) purse.hear(state);
      }
    } catch {
      // The watch says so in the log; until it answers again each node keeps what it has.
    } finally {
      isSurveying = false;
    }
  }

  function nextToSurvey(): Purse[] {
    const holding = [...purses.values()].filter(({ isHolding }) => isHolding);
    const from = surveyed < holding.length ? surveyed : 0;
    surveyed = from + surveyedAtOnce;
    return holding.slice(from, surveyed);
  }

  function outOfDate(): Purse[] {
    const found: Purse[] = [];
    for (const purse of purses.values()) {
      if (purse.isHolding && purse.isOutOfDate && found.length < surveyedAtOnce) found.push(purse);
    }
    return found;
  }

  function forfeitAll(): void {
    log.warn('the store took this node for lost: what it had drawn from budgets was given to others');
    for (const purse of purses.values()) purse.forfeit();
  }

  function forget(purse: Purse): void {
    const { holderKind, holderId } = purse.account;
    const ofHolder = current[holderKind].get(holderId);
    if (ofHolder === undefined) return;
    const { period } = purse;
    if (ofHolder[period] === purse) ofHolder[period] = undefined;
    if (Object.values(ofHolder).every((one) => one === undefined)) current[holderKind].delete(holderId);
  }

  function find(holder: Holder, budget: Budget, atMs: number): Purse {
    let ofHolder = current[holder.kind].get(holder.id);
    if (ofHolder === undefined) {
      ofHolder = { day: undefined, week: undefined, month: undefined, total: undefined };
      current[holder.kind].set(holder.id, ofHolder);
    }
    let purse = ofHolder[budget.period];
    if (purse?.isFor(atMs) !== true) {
      const account = toAccount(holder, budget, atMs);
      purse = purses.get(account.id) ?? new Purse(account, budget, purseDeps);
      purses.set(account.id, purse);
      ofHolder[budget.period] = purse;
    }
    purse.follow(budget);
    return purse;
  }

  function reserve(
    holders: readonly Holder[],
    nanos: number,
    beganAtMs = clock.nowMs(),
  ): BudgetHold | Promise<BudgetHold> {
    let hold: Hold | undefined;
    for (const holder of holders) {
      for (const budget of holder.caps.budgets) {
        hold ??= new Hold(nanos);
        hold.add(find(holder, budget, beganAtMs));
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
