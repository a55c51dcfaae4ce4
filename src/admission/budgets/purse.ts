/** What this process holds of one account: what it drew, who waits for more, and when what nobody needs goes back. */

import type { Budget, BudgetPeriod } from '../../core/caps.ts';
import type { GatewayError } from '../../core/errors.ts';
import type { AccountState, BudgetAccount, BudgetBank } from '../../core/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { Pace } from './pace.ts';
import { budgetExceeded, moneyUnavailable } from './refusal.ts';
import type { StoreWatch } from './store-watch.ts';

/** Of what the bank has left, one draw takes a quarter at most; of little, nothing that is not needed now. */
const shareOfRest = 4;
const littleInRequests = 20;
/** What the bank said is worth nothing after this. */
const staleMs = 15_000;
/** Who drew more than this part of what the bank has left gives back as soon as it pauses: others may need it. */
const tightShareOfRest = 32;
const tightIdleMs = 50;
const idleMs = 10_000;
/** Who is refused for what others hold is asked for again after such pauses: they had the time to give it back. */
const pausesMs = [120, 130];
const sameMomentMs = 20;
/** Used within this time, it is about to be used again. */
const busyMs = 200;
/** What is drawn before anyone needs it is never missed by others where the bank has this many times as much. */
const plentyInDraws = 64;
/** A draw may take at least this long, however long those it is for have waited. */
const shortestDrawMs = 100;
/** The rest of a budget rarely comes out even: a refusal counts as the end from here on. */
const nearlySpentPercent = 95;

interface Waiter {
  readonly nanos: number;
  readonly sinceMs: number;
  /** How often it was refused, and when it is asked for again. */
  refusals: number;
  againAtMs: number;
  resolve(): void;
  reject(error: unknown): void;
}

export interface PurseDeps {
  readonly bank: BudgetBank;
  readonly node: string;
  readonly clock: Clock;
  readonly watch: StoreWatch;
  readonly drawTimeoutMs: number;
  /** So much of the budget is spent, in percent: one of those at which the operator is told. */
  onThreshold(account: BudgetAccount, budget: Budget, percent: number, spentNanos: number): void;
}

export class Purse {
  readonly #deps: PurseDeps;
  readonly #pace: Pace;
  #account: BudgetAccount;
  #budget: Budget;
  /** Below zero where requests cost more than was reserved for them: the next draw is for that as well. */
  #atHandNanos = 0;
  /** Requests that are not settled. */
  #holds = 0;
  #usedAtMs: number;
  #waiting: Waiter[] = [];
  #pausing: Waiter[] = [];
  #pauseTimer: NodeJS.Timeout | undefined = undefined;
  /** One call of the bank at a time. */
  #running: Promise<void> | undefined = undefined;

  /** As the bank said last; undefined before it said anything. */
  #spentNanos: number | undefined = undefined;
  #restNanos = 0;
  /** What was at hand then. */
  #heldNanos = 0;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  /** What our own requests cost since then. */
  #settledNanos = 0;
  #isLowered = false;
  #thresholdsReached = 0;
  /** The bank was asked what is spent, after the last request was over. */
  #isLookedUp = false;

  constructor(account: BudgetAccount, budget: Budget, deps: PurseDeps) {
    this.#deps = deps;
    this.#account = account;
    this.#budget = budget;
    this.#usedAtMs = deps.clock.monotonicMs();
    this.#pace = new Pace(this.#usedAtMs);
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
    this.#restNanos += moreNanos;
    this.#isLowered = moreNanos < 0;
  }

  /** No draw can help: so much is not left, whoever holds it. */
  isSpentFor(nanos: number): boolean {
    return nanos > 0 && this.#spentNanos !== undefined && this.#account.nanos - this.#spentNanos < nanos;
  }

  /** False where there is not so much at hand, or others were here before. */
  takeAtOnce(nanos: number): boolean {
    if (nanos > 0 && (this.#atHandNanos < nanos || this.#waiting.length > 0)) return false;
    this.#take(nanos);
    return true;
  }

  /** Draws what is missing. */
  takeLater(nanos: number): Promise<void> {
    const { watch, clock } = this.#deps;
    if (watch.isSilent()) return Promise.reject(moneyUnavailable('the store did not answer a moment ago'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ nanos, sinceMs: clock.monotonicMs(), refusals: 0, againAtMs: 0, resolve, reject });
      void this.#serve();
    });
  }

  /** Something that was taken cost so much, which may be more; the rest is free again. */
  settle(takenNanos: number, costNanos: number): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#holds -= 1;
    this.#usedAtMs = nowMs;
    this.#pace.cost(costNanos);
    this.#atHandNanos += takenNanos - costNanos;
    this.#settledNanos += costNanos;
    if (costNanos > 0) this.#noteSpent((this.#spentNanos ?? 0) + this.#settledNanos);
    if (this.#pausing.length > 0 || this.#waiting.length > 0) this.#handOut();
  }

  refusal(nanos: number): GatewayError {
    const { period, nanos: budgetNanos } = this.#budget;
    const spentNanos = this.#spentNanos ?? 0;
    if (this.isSpentFor(nanos) && spentNanos * 100 >= budgetNanos * nearlySpentPercent) {
      this.#noteSpent(Math.max(spentNanos, budgetNanos));
    }
    return budgetExceeded({ account: this.#account, period, spentNanos, nanos, nowMs: this.#deps.clock.nowMs() });
  }

  /** Every now and then, on the monotonic clock: gives back what is not needed. True where the purse is not needed either. */
  look(nowMs: number, isOver: boolean): boolean {
    const { watch } = this.#deps;
    const unneededNanos = this.#pace.turn(nowMs, this.#atHandNanos);
    if (this.#running !== undefined || this.#waiting.length > 0 || this.#pausing.length > 0) return false;
    if (watch.isSilent()) return false;

    const surplusNanos = this.#mayKeep(nowMs) && !isOver ? unneededNanos : this.#atHandNanos;
    this.#isLowered = false;
    const shortNanos = isOver ? 0 : this.#shortAhead(nowMs);
    if (shortNanos > 0) {
      void this.#run(() => this.#drawAhead(shortNanos));
      return false;
    }
    if (surplusNanos > 0) {
      void this.#run(() => this.#giveBack(surplusNanos));
      return false;
    }
    if (this.#holds > 0) return false;
    if (isOver) return true;
    // What was spent beyond what was drawn is remembered, and drawn with what is needed next.
    if (this.#atHandNanos !== 0 || nowMs - this.#usedAtMs < idleMs) return false;
    if (this.#isLookedUp || this.#thresholdsReached === this.#budget.alerts.length) return true;
    // By now all its rows are in the store, which may say that a threshold was reached.
    void this.#run(() => this.#lookUp());
    return false;
  }

  /** Gives back what no request holds; what the running ones leave over is free when their rows are in the store. */
  async close(): Promise<void> {
    clearTimeout(this.#pauseTimer);
    await this.#running;
    if (this.#atHandNanos > 0 && !this.#deps.watch.isSilent()) await this.#run(() => this.#giveBack(this.#atHandNanos));
  }

  /** Something ahead, for the next requests; else others may need it. */
  #mayKeep(nowMs: number): boolean {
    const pausedMs = nowMs - this.#usedAtMs;
    const isTight = this.#heldNanos * tightShareOfRest >= this.#restNanos;
    return !this.#isLowered && pausedMs < (isTight ? tightIdleMs : idleMs);
  }

  /** What is missing of what the next requests need, so that they need not wait for a slow bank; nothing where others may need it. */
  #shortAhead(nowMs: number): number {
    if (nowMs - this.#usedAtMs >= busyMs || nowMs - this.#answeredAtMs >= staleMs) return 0;
    const wantedNanos = this.#pace.aheadNanos;
    if (this.#restNanos < plentyInDraws * wantedNanos) return 0;
    return this.#atHandNanos * 2 < wantedNanos ? wantedNanos - this.#atHandNanos : 0;
  }

  #take(nanos: number): void {
    this.#atHandNanos -= nanos;
    this.#holds += 1;
    this.#usedAtMs = this.#deps.clock.monotonicMs();
    this.#isLookedUp = false;
    this.#pace.took(nanos, this.#atHandNanos);
  }

  /** In the order in which they came; those who were refused once came first. */
  #handOut(): void {
    for (const waiters of [this.#pausing, this.#waiting]) {
      for (let waiter = waiters[0]; waiter !== undefined && this.#atHandNanos >= waiter.nanos; waiter = waiters[0]) {
        waiters.shift();
        this.#take(waiter.nanos);
        waiter.resolve();
      }
    }
  }

  /** Until nobody waits: draws for all who do. */
  #serve(): Promise<void> {
    return this.#run(async () => {
      for (this.#handOut(); this.#waiting.length > 0; this.#handOut()) await this.#drawForWaiting();
    });
  }

  #run(work: () => Promise<void>): Promise<void> {
    this.#running ??= work().finally(() => {
      this.#running = undefined;
      if (this.#waiting.length > 0) void this.#serve();
    });
    return this.#running;
  }

  async #drawForWaiting(): Promise<void> {
    const [first] = this.#waiting;
    if (first === undefined) return;
    const { clock, watch, drawTimeoutMs } = this.#deps;
    const leastNanos = first.nanos - this.#atHandNanos;
    const timeoutMs = Math.max(shortestDrawMs, drawTimeoutMs - (clock.monotonicMs() - first.sinceMs));
    try {
      const grantedNanos = await watch.ask(this.#draw(leastNanos, this.#wanted(leastNanos)), timeoutMs);
      if (grantedNanos === 0) await this.#refuse(leastNanos);
    } catch (cause) {
      const error = moneyUnavailable(cause);
      for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
    }
  }

  /** What all who wait need, and something ahead where there is plenty. */
  #wanted(leastNanos: number): number {
    const neededNanos = this.#waiting.reduce((sum, { nanos }) => sum + nanos, -this.#atHandNanos);
    const isStale = this.#deps.clock.monotonicMs() - this.#answeredAtMs >= staleMs;
    const isLittle = this.#restNanos < littleInRequests * leastNanos;
    const aheadNanos =
      isStale || isLittle ? 0 : Math.min(this.#pace.aheadNanos, Math.floor(this.#restNanos / shareOfRest));
    return Math.max(leastNanos, Math.min(neededNanos + aheadNanos, this.#account.nanos));
  }

  async #drawAhead(nanos: number): Promise<void> {
    const { watch, drawTimeoutMs } = this.#deps;
    try {
      await watch.ask(this.#draw(nanos, nanos), drawTimeoutMs);
    } catch {
      // The watch says so in the log, and nobody waits for this.
    }
  }

  async #draw(leastNanos: number, wantNanos: number): Promise<number> {
    const { bank, node } = this.#deps;
    const { grantedNanos, ...state } = await bank.draw(this.#account, node, leastNanos, wantNanos);
    // Also where it comes so late that nobody waits for it any more.
    this.#atHandNanos += grantedNanos;
    this.#note(state);
    return grantedNanos;
  }

  /** The bank has not so much: it is spent, or others hold it and may give some of it back. */
  async #refuse(leastNanos: number): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) {
      const pauseMs = pausesMs[waiter.refusals];
      if (waiter.nanos - this.#atHandNanos < leastNanos) this.#waiting.push(waiter);
      else if (pauseMs === undefined || this.isSpentFor(waiter.nanos)) waiter.reject(this.refusal(waiter.nanos));
      else {
        waiter.refusals += 1;
        waiter.againAtMs = nowMs + pauseMs;
        this.#pausing.push(waiter);
      }
    }
    this.#wakeLater();
    // Too little for those who wait here may be enough for others, and together with what they hold for one of us.
    if (this.#waiting.length === 0 && this.#atHandNanos > 0) await this.#giveBack(this.#atHandNanos);
  }

  #wakeLater(): void {
    const [first] = this.#pausing;
    if (first === undefined || this.#pauseTimer !== undefined) return;
    this.#pauseTimer = setTimeout(() => this.#wake(), first.againAtMs - this.#deps.clock.monotonicMs());
  }

  #wake(): void {
    this.#pauseTimer = undefined;
    const dueMs = this.#deps.clock.monotonicMs() + sameMomentMs;
    const later = this.#pausing.findIndex(({ againAtMs }) => againAtMs > dueMs);
    const due = this.#pausing.splice(0, later === -1 ? this.#pausing.length : later);
    this.#waiting.unshift(...due);
    this.#wakeLater();
    void this.#serve();
  }

  async #giveBack(nanos: number): Promise<void> {
    const { bank, node, watch, drawTimeoutMs } = this.#deps;
    try {
      // Of a call that failed nobody knows whether it was heard: what it gave back counts as gone. So ask first whether one will be.
      if (watch.isDoubtful()) await watch.ask(bank.state(this.#account.id), drawTimeoutMs);
      const givenNanos = Math.min(nanos, this.#atHandNanos);
      if (givenNanos <= 0) return;
      this.#atHandNanos -= givenNanos;
      this.#pace.took(0, this.#atHandNanos);
      this.#restNanos += givenNanos;
      await watch.ask(bank.giveBack(this.#account.id, node, givenNanos), drawTimeoutMs);
    } catch {
      // The watch says so in the log, and nobody waits for this.
    }
  }

  async #lookUp(): Promise<void> {
    const { bank, watch, drawTimeoutMs } = this.#deps;
    this.#isLookedUp = true;
    try {
      const state = await watch.ask(bank.state(this.#account.id), drawTimeoutMs);
      if (state !== undefined) this.#note(state);
    } catch {
      // As above; the next request will bring it to light.
    }
  }

  #note({ spentNanos, outstandingNanos }: AccountState): void {
    this.#spentNanos = Math.max(spentNanos, this.#spentNanos ?? 0);
    this.#restNanos = this.#account.nanos - spentNanos - outstandingNanos;
    this.#heldNanos = this.#atHandNanos;
    this.#answeredAtMs = this.#deps.clock.monotonicMs();
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
