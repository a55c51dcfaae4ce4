/** Local allowance: the part of a budget account that this process drew in advance, its waiters, and when it is returned. */

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

/** What is held ahead stays for so long after the last request; as long as a key is known without the store. */
const heldAheadMs = 600_000;
/** Of the node's part, what is missing is drawn from here on, and what is too much goes back from there on. */
const refilledBelow = 1 / 2;
const givenBackAbove = 5 / 4;
/** What the account store said is out of date when all may have spent this part of what was left. */
const staleAtShare = 8;
/** Where nothing is held ahead, what is at hand goes back as soon as the requests pause: others may need it. */
const tightIdleMs = 50;
const idleMs = 10_000;
/** So many draws in a row that failed, and nobody waits for this account for a while. */
const failuresInARow = 3;
const silentMs = 1_000;
/** Between one draw that failed at once and the next. */
const afterFailureMs = 250;
/** What the store does not do now is not tried at each look. */
const quietMs = 1_000;
/** The rest of a budget rarely comes out even: a refusal counts as the end from here on. */
const nearlySpentPercent = 95;

export interface AllowanceDeps {
  readonly accountStore: BudgetAccountStore;
  readonly node: string;
  readonly clock: Clock;
  readonly watch: StoreWatch;
  readonly lease: NodeLease;
  /** How long one call of the account store may take before it counts as failed; what comes later is used all the same. */
  readonly drawTimeoutMs: number;
  /** So much of the budget is spent, in percent: one of those at which the operator is told. */
  onThreshold(account: BudgetAccount, budget: Budget, percent: number, spentNanos: number): void;
}

export class LocalAllowance {
  readonly #deps: AllowanceDeps;
  readonly #lowWater: LowWater;
  #account: BudgetAccount;
  #budget: Budget;
  /** Below zero where requests cost more than was reserved for them: the next draw is for that as well. */
  #atHandNanos = 0;
  /** Requests that are not settled, and what they took. */
  #holds = 0;
  #reservedNanos = 0;
  #usedAtMs: number;
  readonly #waiters: Waiters;
  /** One call of the account store at a time. */
  #running: Promise<void> | undefined = undefined;
  /** A draw that is on its way, also where nobody waits for it any more. */
  #drawing: Promise<number> | undefined = undefined;
  #failures = 0;
  #silentUntilMs = Number.NEGATIVE_INFINITY;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #aheadAgainAtMs = Number.NEGATIVE_INFINITY;

  /** As the account store said last; undefined before it said anything. */
  #spentNanos: number | undefined = undefined;
  /** Nodes that hold something of it, this one included. */
  #holders = 1;
  /** What our own requests cost since then. */
  #settledNanos = 0;
  #isLowered = false;
  #thresholdsReached = 0;
  /** The account store was asked what is spent, after the last request was over. */
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

  /** Whether a moment is within its period. */
  isFor(nowMs: number): boolean {
    return nowMs >= this.#account.startsAtMs && nowMs < this.#account.endsAtMs;
  }

  /** As the configuration has it now. */
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

  /** No draw can help: so much is not left, whoever holds it. */
  isSpentFor(nanos: number): boolean {
    return nanos > 0 && this.#spentNanos !== undefined && this.#account.nanos - this.#spentNanos < nanos;
  }

  /** False where there is not so much at hand, or others were here before. */
  takeAtOnce(nanos: number): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nanos > 0) {
      if (this.#atHandNanos < nanos || this.#waiters.first !== undefined) return false;
      if (!this.#deps.lease.isValidAt(nowMs)) return false;
    }
    this.#take(nanos, nowMs);
    return true;
  }

  /** Draws what is missing. */
  takeLater(nanos: number): Promise<void> {
    if (this.#deps.clock.monotonicMs() < this.#silentUntilMs) {
      return Promise.reject(moneyUnavailable('the store did not answer a moment ago'));
    }
    const taken = this.#waiters.add(nanos);
    void this.#serve();
    return taken;
  }

  /** Something that was taken cost so much, which may be more; the rest is free again. */
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

  /** Every now and then, on the monotonic clock: draws ahead, or gives back. True where the allowance is not needed. */
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
    // What was spent beyond what was drawn is remembered, and drawn with what is needed next.
    if (this.#atHandNanos !== 0 || idleForMs < idleMs) return false;
    if (this.#isLookedUp || this.#thresholdsReached === this.#budget.alerts.length) return true;
    // By now all its rows are in the store, which may say that a threshold was reached.
    void this.#run(() => this.#lookUp());
    return false;
  }

  /** Something of the account is here that others may come to need: what the account store says of it should be known. */
  get isHolding(): boolean {
    return this.#atHandNanos > 0 && this.#running === undefined;
  }

  /** So much was spent here since the account store last said something that others may be near the end of it. */
  get isOutOfDate(): boolean {
    if (this.#spentNanos === undefined) return false;
    return this.#settledNanos * this.#holders * staleAtShare >= this.#account.nanos - this.#spentNanos;
  }

  /** What the account store says of the account, unasked for. */
  hear(state: AccountState): void {
    if (this.#running === undefined) this.#note(state);
  }

  /** The account store took this node for lost, and gave what it drew to others. What requests under way hold is a debt. */
  forfeit(): void {
    this.#atHandNanos = -this.#reservedNanos;
  }

  /** Gives back what no request holds; what the running ones leave over is free when their rows are in the store. */
  async close(): Promise<void> {
    this.#waiters.close();
    await this.#running;
    const isQuiet = this.#deps.clock.monotonicMs() < Math.max(this.#quietUntilMs, this.#silentUntilMs);
    if (this.#atHandNanos > 0 && !isQuiet) await this.#run(() => this.#giveBack(this.#atHandNanos));
  }

  /** This node's part of what is held ahead by all; nothing before the account store said something. */
  get #aheadNanos(): number {
    if (this.#spentNanos === undefined) return 0;
    const leftNanos = this.#account.nanos - this.#spentNanos - this.#settledNanos;
    return shareAheadNanos(leftNanos, this.#holders, this.#lowWater.unitNanos);
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

  /** Until nobody waits: draws for all who do. */
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
    // What is on its way is not asked for twice: it may come late, and is for those who wait then.
    const isNew = this.#drawing === undefined;
    const drawing = this.#drawing ?? this.#draw(leastNanos, this.#wanted(leastNanos));
    const grantedNanos = await this.#heard(watch.ask(drawing, drawTimeoutMs));
    if (isNew && grantedNanos === 0) await this.#refuse(leastNanos);
  }

  /** Undefined where it failed; whoever waits goes on waiting then, or was told. */
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
      await new Promise((resolve) => setTimeout(resolve, afterFailureMs));
    }
  }

  /** What all who wait need. */
  #wanted(leastNanos: number): number {
    const neededNanos = this.#waiters.nanos - this.#atHandNanos;
    return Math.max(leastNanos, Math.min(neededNanos, this.#account.nanos));
  }

  async #drawAhead(nowMs: number): Promise<void> {
    const { watch, drawTimeoutMs } = this.#deps;
    // Others may hold more than their part yet, until they hear that there is one more.
    this.#aheadAgainAtMs = nowMs + quietMs;
    try {
      await watch.ask(this.#drawing ?? this.#draw(1, 1), drawTimeoutMs);
    } catch {
      // The watch says so in the log, and nobody waits for this.
    }
  }

  /** Also where it comes so late that nobody waits for it any more, what is granted is at hand then. */
  #draw(leastNanos: number, wantNanos: number): Promise<number> {
    this.#drawing = this.#ask(leastNanos, wantNanos).finally(() => {
      this.#drawing = undefined;
    });
    return this.#drawing;
  }

  async #ask(leastNanos: number, wantNanos: number): Promise<number> {
    const { accountStore, node, clock, lease } = this.#deps;
    // The account store is to know whose it is before it is drawn.
    if (!lease.isValidAt(clock.monotonicMs())) await lease.renew();
    const unitNanos = Math.max(this.#lowWater.unitNanos, this.#waiters.first?.nanos ?? 0);
    const { grantedNanos, ...state } = await accountStore.draw(this.#account, node, leastNanos, wantNanos, unitNanos);
    this.#failures = 0;
    this.#silentUntilMs = Number.NEGATIVE_INFINITY;
    this.#atHandNanos += grantedNanos;
    this.#note(state);
    return grantedNanos;
  }

  /** The account store has not so much: it is spent, or others hold it and may give some of it back. */
  async #refuse(leastNanos: number): Promise<void> {
    this.#waiters.refuse(
      (nanos) => nanos - this.#atHandNanos >= leastNanos,
      (nanos) => this.isSpentFor(nanos),
      (nanos) => this.refusal(nanos),
    );
    // Too little for those who wait here may be enough for others, and together with what they hold for one of us.
    if (this.#waiters.first === undefined && this.#atHandNanos > 0) await this.#giveBack(this.#atHandNanos);
  }

  async #giveBack(nanos: number): Promise<void> {
    const { accountStore, node, watch, drawTimeoutMs } = this.#deps;
    try {
      // Of a call that failed nobody knows whether it was heard: what it gave back counts as gone. So ask first whether one will be.
      if (watch.isDoubtful()) await watch.ask(accountStore.state(this.#account.id), drawTimeoutMs);
      const givenNanos = Math.min(nanos, this.#atHandNanos);
      if (givenNanos <= 0) return;
      this.#atHandNanos -= givenNanos;
      this.#lowWater.took(0, this.#atHandNanos);
      await watch.ask(accountStore.giveBack(this.#account.id, node, givenNanos), drawTimeoutMs);
    } catch {
      // The watch says so in the log, and nobody waits for this.
      this.#quietUntilMs = this.#deps.clock.monotonicMs() + quietMs;
    }
  }

  async #lookUp(): Promise<void> {
    const { accountStore, watch, drawTimeoutMs } = this.#deps;
    this.#isLookedUp = true;
    try {
      const state = await watch.ask(accountStore.state(this.#account.id), drawTimeoutMs);
      if (state !== undefined) this.#note(state);
    } catch {
      // As above; the next request will bring it to light.
    }
  }

  #note({ spentNanos, holders }: AccountState): void {
    this.#spentNanos = Math.max(spentNanos, this.#spentNanos ?? 0);
    this.#holders = holders;
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
