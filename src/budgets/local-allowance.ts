/** Keeps the part of a budget account that this process drew in advance: draws money, lets requests wait for it, and returns it. */

import type { Budget, BudgetPeriod } from '../core/caps.ts';
import type { GatewayError } from '../core/errors.ts';
import {
  type AccountState,
  type BudgetAccount,
  type BudgetAccountStore,
  shareAheadNanos,
} from '../core/store/budgets.ts';

import type { Clock } from '../lib/clock.ts';
import { LowWater } from './low-water.ts';
import { type NodeLease, StoreTimeout, type StoreWatch } from './node-lease.ts';
import { budgetExceeded, moneyUnavailable } from './refusal.ts';

import { Waiters } from './waiters.ts';

/** Money drawn ahead is kept this long after the last request; keys are known just as long without the store. */
const heldAheadMs = 600_000;
/** Bounds of the held money, as shares of the node's part: below the first more is drawn, above the second the surplus is returned. */
const refilledBelow = 1 / 2;
const givenBackAbove = 5 / 4;
/** Once all nodes may have spent this part (one eighth) of what the store last reported as left, that report counts as outdated. */
const staleAtShare = 8;
/** Where no money is held ahead, unused money is returned when requests pause for this long: other nodes may need it. */
const tightIdleMs = 50;
const idleMs = 10_000;
/** After this number of failed draws in a row, requests are refused for a while. */
const failuresInARow = 3;
const silentMs = 1_000;
const pauseAfterFailedDrawMs = 250;
/** Shortest pause before a failed refill is repeated. */
const quietMs = 1_000;
/** Budgets are rarely spent exactly: a refusal above this percentage counts as the end of the budget. */
const nearlySpentPercent = 95;

export interface AllowanceDeps {
  readonly accountStore: BudgetAccountStore;
  readonly node: string;
  readonly clock: Clock;
  readonly watch: StoreWatch;
  readonly lease: NodeLease;
  /** Timeout of one store call; a result that comes later is still used. */
  readonly drawTimeoutMs: number;
  /** Called when spending reaches a notification threshold of the budget, in percent. */
  onThreshold(account: BudgetAccount, budget: Budget, percent: number, spentNanos: number): void;
}

export class LocalAllowance {
  readonly #deps: AllowanceDeps;
  readonly #lowWater: LowWater;
  #account: BudgetAccount;
  #budget: Budget;
  /** Drawn money that no request holds; negative where requests cost more than reserved, which the next draw covers. */
  #atHandNanos = 0;
  /** The number of unsettled requests; below it, the sum of their reservations. */
  #holds = 0;
  #reservedNanos = 0;
  #usedAtMs: number;
  readonly #waiters: Waiters;
  /** The current store call, as calls run one at a time. */
  #running: Promise<void> | undefined = undefined;
  /** The current draw, even if no request waits for its money any more. */
  #drawing: Promise<number> | undefined = undefined;
  #failures = 0;
  #silentUntilMs = Number.NEGATIVE_INFINITY;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #aheadAgainAtMs = Number.NEGATIVE_INFINITY;

  /** The account's spent money by the store's last answer; undefined before the first answer. */
  #spentNanos: number | undefined = undefined;
  /** The number of nodes that hold money of this account, this one included. */
  #holdingNodes = 1;
  /** What requests of this process have cost since the store's last answer. */
  #settledNanos = 0;
  #isLowered = false;
  #thresholdsReached = 0;
  /** The store was asked for the spent amount since the last request. */
  #isLookedUp = false;

  constructor(account: BudgetAccount, budget: Budget, deps: AllowanceDeps) {
    this.#deps = deps;
    this.#account = account;
    this.#budget = budget;
    this.#usedAtMs = deps.clock.monotonicMs();
    this.#lowWater = new LowWater(this.#usedAtMs);
    this.#waiters = new Waiters(deps.clock, () => void this.#serve());
  }

  get account(): BudgetAccount {
    return this.#account;
  }

  get period(): BudgetPeriod {
    return this.#budget.period;
  }

  isFor(nowMs: number): boolean {
    return nowMs >= this.#account.startsAtMs && nowMs < this.#account.endsAtMs;
  }

  follow(budget: Budget): void {
    if (budget === this.#budget) return;
    const { alerts } = this.#budget;
    this.#budget = budget;
    const moreNanos = budget.nanos - this.#account.nanos;
    const isSame = alerts.length === budget.alerts.length && alerts.every((at, index) => at === budget.alerts[index]);
    if (moreNanos !== 0 || !isSame) this.#thresholdsReached = 0;
    if (moreNanos === 0) return;
    this.#account = { ...this.#account, nanos: budget.nanos };
    this.#isLowered = moreNanos < 0;
  }

  /** Whether no draw can help, because all nodes together have less than this amount left. */
  isSpentFor(nanos: number): boolean {
    return nanos > 0 && this.#spentNanos !== undefined && this.#account.nanos - this.#spentNanos < nanos;
  }

  /** Takes the amount; false where too little is at hand, or other requests wait for it. */
  takeAtOnce(nanos: number): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nanos > 0) {
      if (this.#atHandNanos < nanos || this.#waiters.first !== undefined) return false;
      if (!this.#deps.lease.isValidAt(nowMs)) return false;
    }
    this.#take(nanos, nowMs);
    return true;
  }

  takeLater(nanos: number): Promise<void> {
    if (this.#deps.clock.monotonicMs() < this.#silentUntilMs) {
      return Promise.reject(moneyUnavailable('the store did not answer a moment ago'));
    }
    const taken = this.#waiters.add(nanos);
    void this.#serve();
    return taken;
  }

  /** Ends a reservation. The actual cost may be higher than it; what is left of it becomes available. */
  settle(takenNanos: number, costNanos: number): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#holds -= 1;
    this.#reservedNanos -= takenNanos;
    this.#usedAtMs = nowMs;
    this.#atHandNanos += takenNanos - costNanos;
    this.#settledNanos += costNanos;
    if (costNanos > 0) this.#noteSpent((this.#spentNanos ?? 0) + this.#settledNanos);
    if (!this.#waiters.areNone) this.#handOut();
  }

  refusal(nanos: number): GatewayError {
    const { period, nanos: budgetNanos } = this.#budget;
    const spentNanos = this.#spentNanos ?? 0;
    if (this.isSpentFor(nanos) && spentNanos * 100 >= budgetNanos * nearlySpentPercent) {
      this.#noteSpent(Math.max(spentNanos, budgetNanos));
    }
    return budgetExceeded({ account: this.#account, period, spentNanos, nanos, nowMs: this.#deps.clock.nowMs() });
  }

  /** Called regularly with monotonic time: draws ahead, or returns money. True where the allowance is not needed any more. */
  look(nowMs: number, isOver: boolean): boolean {
    const unneededNanos = this.#lowWater.turn(nowMs, this.#atHandNanos);
    if (this.#running !== undefined || !this.#waiters.areNone) return false;
    if (nowMs < this.#quietUntilMs || nowMs < this.#silentUntilMs) return false;

    const isKept = !isOver && !this.#isLowered;
    this.#isLowered = false;
    const idleForMs = nowMs - this.#usedAtMs;
    const aheadNanos = isKept && idleForMs < heldAheadMs ? this.#aheadNanos : 0;
    if (aheadNanos > 0) {
      this.#keepUp(aheadNanos, nowMs);
      return false;
    }
    const surplusNanos = isKept && idleForMs < tightIdleMs ? unneededNanos : this.#atHandNanos;
    if (surplusNanos > 0) {
      void this.#run(() => this.#giveBack(surplusNanos));
      return false;
    }
    if (this.#holds > 0) return false;
    if (isOver) return true;
    // An overdraft is remembered, and drawn with the next need.
    if (this.#atHandNanos !== 0 || idleForMs < idleMs) return false;
    if (this.#isLookedUp || this.#thresholdsReached === this.#budget.alerts.length) return true;
    // By now all rows are imported, and a threshold may be reached.
    void this.#run(() => this.#lookUp());
    return false;
  }

  /** Whether money of the account is held in this process, so that its state should be kept up to date. */
  get isHolding(): boolean {
    return this.#atHandNanos > 0 && this.#running === undefined;
  }

  /** Whether this process spent so much since the store's last answer that the budget may be nearly used up. */
  get isOutOfDate(): boolean {
    if (this.#spentNanos === undefined) return false;
    return this.#settledNanos * this.#holdingNodes * staleAtShare >= this.#account.nanos - this.#spentNanos;
  }

  hear(state: AccountState): void {
    if (this.#running === undefined) this.#note(state);
  }

  /** Handles that the store declared this node lost and returned its money: running reservations are an overdraft from then on. */
  forfeit(): void {
    this.#atHandNanos = -this.#reservedNanos;
  }

  /** Returns the money that no request holds; the surplus of running requests is freed when their rows are imported. */
  async close(): Promise<void> {
    this.#waiters.close();
    await this.#running;
    const isQuiet = this.#deps.clock.monotonicMs() < Math.max(this.#quietUntilMs, this.#silentUntilMs);
    if (this.#atHandNanos > 0 && !isQuiet) await this.#run(() => this.#giveBack(this.#atHandNanos));
  }

  /** This node's part of the money drawn ahead; 0 before the store's first answer. */
  get #aheadNanos(): number {
    if (this.#spentNanos === undefined) return 0;
    const leftNanos = this.#account.nanos - this.#spentNanos - this.#settledNanos;
    return shareAheadNanos(leftNanos, this.#holdingNodes, this.#lowWater.unitNanos);
  }

  #keepUp(aheadNanos: number, nowMs: number): void {
    const heldNanos = this.#atHandNanos + this.#reservedNanos;
    if (heldNanos < aheadNanos * refilledBelow) {
      if (nowMs >= this.#aheadAgainAtMs) void this.#run(() => this.#drawAhead(nowMs));
    } else if (heldNanos > aheadNanos * givenBackAbove && this.#atHandNanos > 0) {
      void this.#run(() => this.#giveBack(heldNanos - aheadNanos));
    }
  }

  #take(nanos: number, nowMs: number): void {
    this.#atHandNanos -= nanos;
    this.#reservedNanos += nanos;
    this.#holds += 1;
    this.#usedAtMs = nowMs;
    this.#isLookedUp = false;
    this.#lowWater.took(nanos, this.#atHandNanos);
  }

  #handOut(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (!this.#deps.lease.isValidAt(nowMs)) return;
    this.#waiters.handOut((nanos) => {
      if (this.#atHandNanos < nanos) return false;
      this.#take(nanos, nowMs);
      return true;
    });
  }

  #serve(): Promise<void> {
    return this.#run(async () => {
      for (this.#handOut(); this.#waiters.first !== undefined; this.#handOut()) await this.#drawForWaiting();
    });
  }

  #run(work: () => Promise<void>): Promise<void> {
    this.#running ??= work().finally(() => {
      this.#running = undefined;
      if (this.#waiters.first !== undefined) void this.#serve();
    });
    return this.#running;
  }

  async #drawForWaiting(): Promise<void> {
    const { first } = this.#waiters;
    if (first === undefined) return;
    const { watch, lease, drawTimeoutMs } = this.#deps;
    const leastNanos = first.nanos - this.#atHandNanos;
    if (leastNanos <= 0) {
      await this.#heard(lease.renew());
      return;
    }
    // A running draw is not repeated: its late result serves the requests waiting then.
    const isNew = this.#drawing === undefined;
    const drawing = this.#drawing ?? this.#draw(leastNanos, this.#wanted(leastNanos));
    const grantedNanos = await this.#heard(watch.ask(drawing, drawTimeoutMs));
    if (isNew && grantedNanos === 0) await this.#refuse(leastNanos);
  }

  /** The store's answer; undefined after a failure, in which case waiting requests go on waiting, or were refused. */
  async #heard<T>(call: Promise<T>): Promise<T | undefined> {
    try {
      return await call;
    } catch (cause) {
      await this.#failed(cause);
      return undefined;
    }
  }

  async #failed(cause: unknown): Promise<void> {
    this.#failures += 1;
    if (this.#failures >= failuresInARow) {
      this.#silentUntilMs = this.#deps.clock.monotonicMs() + silentMs;
      this.#waiters.rejectAll(moneyUnavailable(cause));
    } else if (!(cause instanceof StoreTimeout)) {
      await new Promise((resolve) => setTimeout(resolve, pauseAfterFailedDrawMs));
    }
  }

  #wanted(leastNanos: number): number {
    const neededNanos = this.#waiters.nanos - this.#atHandNanos;
    return Math.max(leastNanos, Math.min(neededNanos, this.#account.nanos));
  }

  async #drawAhead(nowMs: number): Promise<void> {
    const { watch, drawTimeoutMs } = this.#deps;
    // Not again at once: other nodes may hold more than their part until they learn of this node.
    this.#aheadAgainAtMs = nowMs + quietMs;
    try {
      await watch.ask(this.#drawing ?? this.#draw(1, 1), drawTimeoutMs);
    } catch {
      // The store watch logs the error, and no request waits for this.
    }
  }

  /** Draws money from the store. A late grant is used too, even if no request waits for it any more. */
  #draw(leastNanos: number, wantNanos: number): Promise<number> {
    this.#drawing = this.#ask(leastNanos, wantNanos).finally(() => {
      this.#drawing = undefined;
    });
    return this.#drawing;
  }

  async #ask(leastNanos: number, wantNanos: number): Promise<number> {
    const { accountStore, node, clock, lease } = this.#deps;
    // The lease comes first, so that the store knows the node.
    if (!lease.isValidAt(clock.monotonicMs())) await lease.renew();
    const unitNanos = Math.max(this.#lowWater.unitNanos, this.#waiters.first?.nanos ?? 0);
    const { grantedNanos, ...state } = await accountStore.draw(this.#account, node, leastNanos, wantNanos, unitNanos);
    this.#failures = 0;
    this.#silentUntilMs = Number.NEGATIVE_INFINITY;
    this.#atHandNanos += grantedNanos;
    this.#note(state);
    return grantedNanos;
  }

  /** Handles a store that has too little: the budget is spent, or other nodes hold money and may return some. */
  async #refuse(leastNanos: number): Promise<void> {
    this.#waiters.refuse(
      (nanos) => nanos - this.#atHandNanos >= leastNanos,
      (nanos) => this.isSpentFor(nanos),
      (nanos) => this.refusal(nanos),
    );
    // What is too little for the requests here may be enough for another node, or for both nodes' money to serve a request here.
    if (this.#waiters.first === undefined && this.#atHandNanos > 0) await this.#giveBack(this.#atHandNanos);
  }

  async #giveBack(nanos: number): Promise<void> {
    const { accountStore, node, watch, lease, drawTimeoutMs } = this.#deps;
    try {
      // If a call that returns money fails, that money counts as gone: so a renewal first tests whether the store takes writes.
      if (watch.isDoubtful()) await lease.renew();
      const givenNanos = Math.min(nanos, this.#atHandNanos);
      if (givenNanos <= 0) return;
      this.#atHandNanos -= givenNanos;
      this.#lowWater.took(0, this.#atHandNanos);
      await watch.ask(accountStore.giveBack(this.#account.id, node, givenNanos), drawTimeoutMs);
    } catch {
      // The store watch logs the error, and no request waits for this.
      this.#quietUntilMs = this.#deps.clock.monotonicMs() + quietMs;
    }
  }

  async #lookUp(): Promise<void> {
    const { accountStore, watch, drawTimeoutMs } = this.#deps;
    this.#isLookedUp = true;
    try {
      const state = await watch.ask(accountStore.state(this.#account.id), drawTimeoutMs, true);
      if (state !== undefined) this.#note(state);
    } catch {
      // The store watch logs the error; the next request will show it, too.
    }
  }

  #note({ spentNanos, holdingNodes }: AccountState): void {
    this.#spentNanos = Math.max(spentNanos, this.#spentNanos ?? 0);
    this.#holdingNodes = holdingNodes;
    this.#settledNanos = 0;
    this.#noteSpent(spentNanos);
  }

  #noteSpent(spentNanos: number): void {
    const { alerts, nanos } = this.#budget;
    for (
      let percent = alerts[this.#thresholdsReached];
      percent !== undefined;
      percent = alerts[this.#thresholdsReached]
    ) {
      if (spentNanos * 100 < nanos * percent) return;
      this.#thresholdsReached += 1;
      this.#deps.onThreshold(this.#account, this.#budget, percent, (this.#spentNanos ?? 0) + this.#settledNanos);
    }
  }
}
