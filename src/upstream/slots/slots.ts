/** Limits concurrent calls to an upstream, with a queue per lane. Interactive calls go first; bulk calls get at least their share. */

import type { WaitingCall } from '../../core/dispatch.ts';
import type { Lane } from '../../core/lane.ts';
import type { UpstreamLimits } from '../../core/snapshot.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { AutoLimit, type Baselines } from './auto-limit.ts';
import { BulkGovernor, type SloTracker } from './bulk-governor.ts';
import { BulkCredit, FairQueue } from './fair-queue.ts';

/** A call that may have to wait. Exactly one of the two methods is called, once, unless the call is withdrawn. Neither may throw. */
export interface SlotWaiter extends WaitingCall {
  entered(): void;
  timedOut(): void;
}

const shownKeys = 5;
/** For this long after an interactive call, some slots are reserved for the next one. */
const interactiveSeenMs = 10_000;
/** One of this many slots is reserved; with fewer than `fewestToReserve` slots, none is. */
const slotsPerReserved = 16;
const fewestToReserve = 8;

export class Slots {
  /** Number of running calls; others only read it. */
  inFlight = 0;
  bulkInFlight = 0;
  /** The limit in this process: the configured one, this process's share of it, or the learned one. */
  held: number;
  /** Set where the limit is learned. */
  auto: AutoLimit | undefined;
  /** Largest number of running and waiting calls since slots were last claimed. */
  peak = 0;

  #limits: UpstreamLimits;
  #granted: number;
  /** Set for shared slots: claims more. */
  readonly #ask: (() => void) | undefined;
  /** Whether the last claim was not fully granted. */
  #isDenied = false;
  readonly #clock: Clock;
  readonly #interactive = new FairQueue<SlotWaiter>();
  readonly #bulk = new FairQueue<SlotWaiter>();
  /** When each interactive call began to wait, in order; all may wait for the same time. Bulk calls wait until their deadline. */
  readonly #sinceMs = new Map<SlotWaiter, number>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #reservedTimer: NodeJS.Timeout | undefined = undefined;
  #isAdmitting = false;
  readonly #credit = new BulkCredit();
  /** Set where interactive calls have a latency target. */
  #governor: BulkGovernor | undefined = undefined;
  #interactiveCount = 0;
  /** The number of calls that the last bulk call saw, and when it had changed. */
  #seenCount = 0;
  #seenAtMs = Number.NEGATIVE_INFINITY;

  constructor(limits: UpstreamLimits, clock: Clock = systemClock, ask?: () => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#ask = ask;
    this.auto = toAutoLimit(limits);
    this.#granted = ask === undefined ? limits.concurrency : 0;
    this.held = this.#granted;
    this.#learn();
  }

  get concurrency(): number {
    return this.#limits.concurrency;
  }

  get bulkShare(): number {
    return this.#limits.bulkShare;
  }

  get mostUseful(): number {
    return this.auto?.limit ?? this.#limits.concurrency;
  }

  get isShort(): boolean {
    if (this.waiting === 0) return false;
    return this.inFlight >= this.#granted - (this.#interactive.size > 0 ? 0 : this.#reserved());
  }

  get waiting(): number {
    return this.#interactive.size + this.#bulk.size;
  }

  waitingIn(lane: Lane): number {
    return this.#queueOf(lane).size;
  }

  longestIn(lane: Lane): { readonly key: string; readonly waiting: number }[] {
    return this.#queueOf(lane).longest(shownKeys);
  }

  /** The most slots that bulk may have because of the latency target; infinite without one. */
  get bulkLimit(): number {
    if (this.#governor === undefined || !this.#isInteractiveSeen()) return Number.POSITIVE_INFINITY;
    return this.#governor.limit;
  }

  isFree(lane: Lane): boolean {
    if (this.inFlight >= this.held || this.#interactive.size > 0) return false;
    return lane === 'interactive' || (this.#bulk.size === 0 && this.#mayBulkEnter());
  }

  #mayBulkEnter(): boolean {
    return this.inFlight < this.held - this.#reserved() && this.bulkInFlight < this.bulkLimit;
  }

  /** Whether the call could begin now, or wait. A queue that one key has filled still has room for calls of other keys. */
  hasRoom(call: WaitingCall): boolean {
    if (this.isFree(call.lane)) return true;
    const queue = this.#queueOf(call.lane);
    return queue.size < this.#mostWaiting || queue.mayPushOut(call);
  }

  get #mostWaiting(): number {
    return this.#limits.queue + this.#borrowable;
  }

  /** Slots that other processes may have to spare; calls that wait for these do not count towards the queue's limit. */
  get #borrowable(): number {
    return this.#ask === undefined || this.#isDenied ? 0 : Math.max(0, this.#limits.concurrency - this.#granted);
  }

  /** Takes a free slot if no call waits for it. Each slot is released once, by `leave`. */
  tryEnter(lane: Lane): boolean {
    if (!this.isFree(lane)) return false;
    this.#take(lane);
    if (this.inFlight > this.peak) this.peak = this.inFlight;
    return true;
  }

  /** Sets the limit; running calls beyond it finish. `isDenied`: the claim was not fully granted. */
  hold(held: number, isDenied: boolean): void {
    this.#granted = Math.min(held, this.#limits.concurrency);
    this.#learn();
    this.#isDenied = isDenied;
    this.#admit();
    if (!isDenied) return;
    // Calls that were queued for other processes' spare slots.
    for (const waiter of [...this.#sinceMs.keys()].slice(this.#limits.queue)) this.#sendAway(waiter);
    for (const waiter of this.#bulk.newest(this.#bulk.size - this.#limits.queue)) this.#sendAway(waiter);
  }

  recentPeak(): number {
    const most = Math.max(this.peak, this.inFlight + this.waiting);
    this.peak = this.inFlight + this.waiting;
    return most;
  }

  /** Takes a slot or waits for one; the waiter is notified only where it waits. */
  enter(waiter: SlotWaiter): 'entered' | 'waiting' | 'full' {
    const { lane } = waiter;
    if (this.tryEnter(lane)) return 'entered';
    const queue = this.#queueOf(lane);
    if (queue.size >= this.#mostWaiting) {
      const other = queue.toPushOut(waiter);
      if (other === undefined) return 'full';
      this.#sendAway(other);
    }
    this.#ask?.();
    queue.add(waiter);
    if (lane === 'interactive') {
      this.#interactiveCount += 1;
      this.#sinceMs.set(waiter, this.#clock.monotonicMs());
      this.#setTimer();
    } else this.#watchReserved();
    this.peak = Math.max(this.peak, this.inFlight + this.waiting);
    return 'waiting';
  }

  /** Ends a call's wait without notifying it; no effect if it does not wait. */
  withdraw(waiter: SlotWaiter): void {
    this.#sinceMs.delete(waiter);
    this.#queueOf(waiter.lane).remove(waiter);
  }

  leave(lane: Lane): void {
    this.inFlight -= 1;
    if (lane === 'bulk') this.bulkInFlight -= 1;
    if (this.waiting > 0) this.#admit();
  }

  /** Adopts limits. Lower ones take no slot away and end no wait; a new time limit also applies to waiting calls. */
  configure(limits: UpstreamLimits): void {
    this.#limits = limits;
    if (this.auto?.min !== limits.auto?.min || this.auto?.max !== limits.concurrency) this.auto = toAutoLimit(limits);
    // A lower limit reduces the share; with a higher one there is more to request.
    this.#granted = this.#ask === undefined ? limits.concurrency : Math.min(this.#granted, limits.concurrency);
    this.#learn();
    this.#isDenied = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#admit();
    this.#setTimer();
  }

  served(auto: AutoLimit, baselines: Baselines, work: number, ms: number): void {
    auto.served(baselines, work, ms, this.inFlight, this.#clock.monotonicMs(), this.#clock.nowMs());
    this.#learn();
    if (this.waiting > 0) this.#admit();
  }

  /** Reports that a call overloaded the upstream. */
  refused(): void {
    this.auto?.refused(this.#clock.monotonicMs());
    this.#learn();
  }

  /** Reports an interactive call that has a latency target of `goalMs`; `ms` includes its wait. */
  reportSlo(tracker: SloTracker, ms: number, goalMs: number): void {
    this.#governor ??= new BulkGovernor();
    this.#governor.count(tracker, ms, goalMs, this.bulkInFlight, this.held, this.#clock.monotonicMs());
    if (this.#bulk.size > 0) this.#admit();
  }

  #learn(): void {
    this.held = this.auto === undefined ? this.#granted : Math.min(this.#granted, this.auto.limit);
  }

  #queueOf(lane: Lane): FairQueue<SlotWaiter> {
    return lane === 'bulk' ? this.#bulk : this.#interactive;
  }

  #take(lane: Lane): void {
    this.inFlight += 1;
    if (lane === 'bulk') this.bulkInFlight += 1;
    else this.#interactiveCount += 1;
  }

  /** Number of slots that bulk leaves free for the next interactive call. */
  #reserved(): number {
    return this.held >= fewestToReserve && this.#isInteractiveSeen() ? Math.ceil(this.held / slotsPerReserved) : 0;
  }

  #isInteractiveSeen(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (this.#interactiveCount !== this.#seenCount) {
      this.#seenCount = this.#interactiveCount;
      this.#seenAtMs = nowMs;
    }
    return nowMs - this.#seenAtMs < interactiveSeenMs;
  }

  #admit(): void {
    // An admitted call may end at once, which leads here again: the loop that admitted it then reuses the slot.
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    while (this.inFlight < this.held) {
      const waiter = this.#next();
      if (waiter === undefined) break;
      this.#sinceMs.delete(waiter);
      this.#take(waiter.lane);
      waiter.entered();
    }
    this.#isAdmitting = false;
  }

  #next(): SlotWaiter | undefined {
    if (this.#bulk.size === 0) return this.#interactive.shift();
    if (this.#interactive.size === 0) {
      this.#credit.clear();
      if (this.#mayBulkEnter()) return this.#bulk.shift();
      this.#watchReserved();
      return undefined;
    }
    const share = this.#limits.bulkShare;
    this.#credit.add(share);
    // Bulk calls that take long must not accumulate beyond their share of the slots either.
    const isOwed =
      this.#credit.isOwed && this.bulkInFlight < Math.min(this.bulkLimit, Math.max(1, Math.ceil(share * this.held)));
    if (!isOwed) return this.#interactive.shift();
    this.#credit.clear();
    return this.#bulk.shift();
  }

  /** Starts a timer if bulk waits only for reserved slots: it continues when no interactive call came for a while. */
  #watchReserved(): void {
    if (this.#reservedTimer !== undefined || this.inFlight >= this.held || this.#mayBulkEnter()) return;
    const leftMs = this.#seenAtMs + interactiveSeenMs - this.#clock.monotonicMs();
    this.#reservedTimer = setTimeout(() => this.#lookAtReserved(), Math.max(1, Math.ceil(leftMs))).unref();
  }

  #lookAtReserved(): void {
    this.#reservedTimer = undefined;
    this.#admit();
  }

  #sendAway(waiter: SlotWaiter): void {
    this.withdraw(waiter);
    waiter.timedOut();
  }

  /** Sets the timer for the first waiter. It is not moved when this one leaves: at worst it fires early, and is set again. */
  #setTimer(): void {
    const [first] = this.#sinceMs.values();
    if (this.#timer !== undefined || first === undefined) return;
    const dueMs = first + this.#limits.queueTimeoutMs - this.#clock.monotonicMs();
    this.#timer = setTimeout(() => this.#lookAtQueue(), Math.max(0, Math.ceil(dueMs))).unref();
  }

  #lookAtQueue(): void {
    this.#timer = undefined;
    const latestMs = this.#clock.monotonicMs() - this.#limits.queueTimeoutMs;
    for (const [waiter, sinceMs] of this.#sinceMs) {
      if (sinceMs > latestMs) break;
      this.#sendAway(waiter);
    }
    this.#setTimer();
  }
}

function toAutoLimit({ concurrency, auto }: UpstreamLimits): AutoLimit | undefined {
  return auto && new AutoLimit(auto.min, concurrency);
}
