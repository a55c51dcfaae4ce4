/** Who may call an upstream now, and who waits for it: a limit on the calls under way, and a bounded queue, first in, first out. */

import type { UpstreamLimits } from '../../core/snapshot.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';

/** One of the two is called, once, for a waiter that does not withdraw. Neither may throw. */
export interface SlotWaiter {
  /** It has a slot now. */
  entered(): void;
  timedOut(): void;
}

/** A link of the queue, so that any waiter can leave it at once. */
class Seat {
  readonly waiter: SlotWaiter;
  readonly sinceMs: number;
  ahead: Seat | undefined;
  behind: Seat | undefined = undefined;

  constructor(waiter: SlotWaiter, sinceMs: number, ahead: Seat | undefined) {
    this.waiter = waiter;
    this.sinceMs = sinceMs;
    this.ahead = ahead;
  }
}

export class Slots {
  /** Calls under way; for reading only. */
  inFlight = 0;
  /** So many calls may be under way here: all that the limit allows, or this process's part of it. */
  held: number;
  /** The most that were under way or waited at one moment since somebody last asked. */
  peak = 0;

  #limits: UpstreamLimits;
  /** Where processes share the slots: asks for more. */
  readonly #ask: (() => void) | undefined;
  /** There were no more when somebody last asked. */
  #isDenied = false;
  readonly #clock: Clock;
  readonly #seats = new Map<SlotWaiter, Seat>();
  #first: Seat | undefined = undefined;
  #last: Seat | undefined = undefined;
  /** One for the whole queue: as all wait the same time, the first is always the first whose time is up. */
  #timer: NodeJS.Timeout | undefined = undefined;
  #isAdmitting = false;

  constructor(limits: UpstreamLimits, clock: Clock = systemClock, ask?: () => void) {
    this.#limits = limits;
    this.#clock = clock;
    this.#ask = ask;
    this.held = ask === undefined ? limits.concurrency : 0;
  }

  /** The limit, for all who share it. */
  get concurrency(): number {
    return this.#limits.concurrency;
  }

  /** Somebody waits who could begin if this process held more. */
  get isShort(): boolean {
    return this.waiting > 0 && this.inFlight >= this.held;
  }

  get waiting(): number {
    return this.#seats.size;
  }

  /** A call could begin now. */
  get isFree(): boolean {
    return this.waiting === 0 && this.inFlight < this.held;
  }

  /** A call could begin now or wait for it. */
  get hasRoom(): boolean {
    return this.isFree || this.waiting < this.#limits.queue + this.#borrowable;
  }

  /** What others may have to spare; nobody waits in the queue for that. */
  get #borrowable(): number {
    return this.#ask === undefined || this.#isDenied ? 0 : Math.max(0, this.#limits.concurrency - this.held);
  }

  /** Takes a slot where one is free and nobody waits for it. Each slot is given back with `leave`, once. */
  tryEnter(): boolean {
    if (!this.isFree) return false;
    this.inFlight += 1;
    if (this.inFlight > this.peak) this.peak = this.inFlight;
    return true;
  }

  /** From now on so many may be under way; those beyond them end in their time. `isDenied`: more were asked for. */
  hold(held: number, isDenied: boolean): void {
    this.held = Math.min(held, this.#limits.concurrency);
    this.#isDenied = isDenied;
    this.#admit();
    // Those who were let in for what others might have to spare.
    while (isDenied && this.#last !== undefined && this.waiting > this.#limits.queue) {
      this.#remove(this.#last).waiter.timedOut();
    }
  }

  turnPeak(): number {
    const most = Math.max(this.peak, this.inFlight + this.waiting);
    this.peak = this.inFlight + this.waiting;
    return most;
  }

  /** Takes a slot or waits for one; the waiter is told of what becomes of it only where it waits. */
  enter(waiter: SlotWaiter): 'entered' | 'waiting' | 'full' {
    if (this.tryEnter()) return 'entered';
    if (!this.hasRoom) return 'full';
    this.#ask?.();
    const seat = new Seat(waiter, this.#clock.monotonicMs(), this.#last);
    if (this.#last === undefined) this.#first = seat;
    else this.#last.behind = seat;
    this.#last = seat;
    this.#seats.set(waiter, seat);
    this.#setTimer();
    this.peak = Math.max(this.peak, this.inFlight + this.waiting);
    return 'waiting';
  }

  /** Waits no longer, and is told nothing more. Does nothing for one that does not wait. */
  withdraw(waiter: SlotWaiter): void {
    const seat = this.#seats.get(waiter);
    if (seat !== undefined) this.#remove(seat);
  }

  leave(): void {
    this.inFlight -= 1;
    this.#admit();
  }

  /** Nobody loses a slot or a seat by lower limits; another time limit counts for those who wait, too. */
  configure(limits: UpstreamLimits): void {
    this.#limits = limits;
    // Of a lower limit nobody keeps more; of a higher one there is more to ask for.
    this.held = this.#ask === undefined ? limits.concurrency : Math.min(this.held, limits.concurrency);
    this.#isDenied = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#admit();
    this.#setTimer();
  }

  #admit(): void {
    // Who enters may leave at once; the loop that let it in sees to the slot.
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    while (this.#first !== undefined && this.inFlight < this.held) {
      const { waiter } = this.#remove(this.#first);
      this.inFlight += 1;
      waiter.entered();
    }
    this.#isAdmitting = false;
  }

  #remove(seat: Seat): Seat {
    this.#seats.delete(seat.waiter);
    if (seat.ahead === undefined) this.#first = seat.behind;
    else seat.ahead.behind = seat.behind;
    if (seat.behind === undefined) this.#last = seat.ahead;
    else seat.behind.ahead = seat.ahead;
    return seat;
  }

  /** It is not moved when the first one goes: at worst it fires for nothing, and is set for the next one. */
  #setTimer(): void {
    if (this.#timer !== undefined || this.#first === undefined) return;
    const dueMs = this.#first.sinceMs + this.#limits.queueTimeoutMs - this.#clock.monotonicMs();
    this.#timer = setTimeout(lookAtQueue, Math.max(0, Math.ceil(dueMs)), this).unref();
  }

  /** Called by the timer. */
  lookAtQueue(): void {
    this.#timer = undefined;
    const latestMs = this.#clock.monotonicMs() - this.#limits.queueTimeoutMs;
    while (this.#first !== undefined && this.#first.sinceMs <= latestMs) {
      this.#remove(this.#first).waiter.timedOut();
    }
    this.#setTimer();
  }
}

function lookAtQueue(slots: Slots): void {
  slots.lookAtQueue();
}
