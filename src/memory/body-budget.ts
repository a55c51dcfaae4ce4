/** Limits the memory of bodies in flight, in total and per key. A waiter never holds memory, so that no deadlock is possible. */

import type { MemoryLease } from '../core/memory-lease.ts';
import { getOrMake } from '../lib/get-or-make.ts';

export interface BudgetLimits {
  readonly totalBytes: number;
  /** Size of the longest possible body; a key may always hold one, and no body counts for more. */
  readonly largestBytes: number;
}

/** A request that waits for memory: notified once when it has some, unless it withdraws. Must not throw. */
export interface LeaseWaiter {
  readonly key: string;
  readonly bytes: number;
  entered(lease: MemoryLease): void;
}

/** Bodies up to this size do not queue behind longer ones, and have a reserved part of the budget. */
export const smallBytes = 128 * 1024;
const reservedShare = 1 / 16;
const keyShare = 1 / 4;
/** Estimated kernel buffers of an unread body; the number of waiters is limited so that these fit the budget. */
const unreadBytes = 256 * 1024;
const fewestWaiting = 64;
/** Below this number of keys, entries of idle keys are kept: removing and adding them costs more. */
const fewestShares = 1_024;

export class BodyBudget {
  heldBytes = 0;
  /** How often a growing body found no memory for a further block. */
  outgrown = 0;
  #limits: BudgetLimits;
  #shares = new Map<string, Share>();
  /** Number of entries beyond which those of idle keys are dropped. */
  #forgetsAt = fewestShares;
  readonly #small = new LeaseQueue();
  readonly #large = new LeaseQueue();

  readonly #onReleased: ((bytes: number) => void) | undefined;

  constructor(limits: BudgetLimits, onReleased?: (bytes: number) => void) {
    this.#limits = limits;
    this.#onReleased = onReleased;
  }

  get totalBytes(): number {
    return this.#limits.totalBytes;
  }

  get waiting(): number {
    return this.#small.size + this.#large.size;
  }

  heldBy(key: string): number {
    const share = this.#shares.get(key);
    return share === undefined ? 0 : share.bytes + share.apartBytes;
  }

  /** Reserves memory at once; undefined where there is none now, or others wait. */
  take(key: string, bytes: number): MemoryLease | undefined {
    const wanted = Math.min(bytes, this.#limits.largestBytes);
    const queue = this.#queueFor(wanted);
    if (queue.size > 0 && (queue.isBlocked || queue.has(key))) return undefined;
    const share = this.#shares.get(key);
    if (this.#obstacleTo(share, undefined, wanted) !== 'none') return undefined;
    return this.#hold(key, share, wanted);
  }

  /** Lets a waiter queue for memory, if the number of waiters permits. */
  wait(waiter: LeaseWaiter): 'waiting' | 'full' | 'key-full' {
    const most = Math.max(fewestWaiting, Math.floor(this.#limits.totalBytes / unreadBytes));
    const ofKey = this.#small.waitingOf(waiter.key) + this.#large.waitingOf(waiter.key);
    if (ofKey >= most * keyShare) return 'key-full';
    if (this.waiting >= most) return 'full';
    const queue = this.#queueFor(waiter.bytes);
    queue.add(waiter);
    // The removed waiter may be the one that blocked the others.
    this.#letIn(queue);
    return 'waiting';
  }

  withdraw(waiter: LeaseWaiter): void {
    const queue = this.#queueFor(waiter.bytes);
    queue.remove(waiter);
    this.#letIn(queue);
  }

  /** Adopts new limits; existing leases stay, even above them. */
  configure(limits: BudgetLimits): void {
    this.#limits = limits;
    this.#letIn(this.#small);
    this.#letIn(this.#large);
  }

  /** Changes the size of a lease, if permitted; false where it may not grow. */
  change(lease: HeldLease, bytes: number): boolean {
    const wanted = Math.min(bytes, this.#limits.largestBytes);
    if (wanted > lease.bytes && !this.#mayGrow(lease, wanted)) {
      this.outgrown += 1;
      return false;
    }
    const isLess = wanted < lease.bytes;
    this.#put(lease, wanted);
    if (isLess) this.#gaveBack(lease.share);
    return true;
  }

  /** Whether a lease may grow. Of a key's growing bodies one always continues: where the share is full, it is counted separately. */
  #mayGrow(lease: HeldLease, wanted: number): boolean {
    const { share } = lease;
    const obstacle = this.#obstacleTo(share, lease, wanted);
    if (obstacle !== 'share' || share.apart !== undefined) return obstacle === 'none';
    share.bytes -= lease.bytes;
    share.apart = lease;
    return this.#obstacleTo(share, lease, wanted) === 'none';
  }

  #queueFor(bytes: number): LeaseQueue {
    return bytes <= smallBytes ? this.#small : this.#large;
  }

  #obstacleTo(share: Share | undefined, lease: HeldLease | undefined, wanted: number): Obstacle {
    const { totalBytes } = this.#limits;
    const isSmall = wanted <= smallBytes;
    const reservedBytes = totalBytes * reservedShare;
    const isApart = wanted > totalBytes * keyShare || (lease !== undefined && share?.apart === lease);
    if (isApart) {
      if (share?.apart !== undefined && share.apart !== lease) return 'share';
    } else {
      const others = (share?.bytes ?? 0) - (lease?.bytes ?? 0);
      const mayHold = totalBytes * keyShare + (isSmall ? reservedBytes * keyShare : 0);
      if (others + wanted > mayHold) return 'share';
    }
    const left = totalBytes - (isSmall || isApart ? 0 : reservedBytes) - this.heldBytes + (lease?.bytes ?? 0);
    return wanted > left ? 'total' : 'none';
  }

  #hold(key: string, known: Share | undefined, bytes: number): HeldLease {
    const share = known ?? new Share(key);
    if (known === undefined) this.#shares.set(key, share);
    share.leases += 1;
    const lease = new HeldLease(this, share);
    this.#put(lease, bytes);
    return lease;
  }

  /** Books a lease's new size. A body that does not fit the key's share is counted separately: one per key. */
  #put(lease: HeldLease, bytes: number): void {
    const { share } = lease;
    const mayHold = this.#limits.totalBytes * keyShare;
    const wasApart = share.apart === lease;
    if (wasApart) share.apart = undefined;
    else share.bytes -= lease.bytes;
    this.heldBytes += bytes - lease.bytes;
    lease.bytes = bytes;
    const staysApart = wasApart && bytes > 0 && share.bytes + bytes > mayHold;
    if (share.apart === undefined && (bytes > mayHold || staysApart)) share.apart = lease;
    else share.bytes += bytes;
  }

  drop(lease: HeldLease): void {
    const { share } = lease;
    this.#onReleased?.(lease.bytes);
    this.#put(lease, 0);
    share.leases -= 1;
    if (this.#shares.size > this.#forgetsAt) this.#forget();
    this.#gaveBack(share);
  }

  #forget(): void {
    this.#shares = new Map([...this.#shares].filter(([, { leases }]) => leases > 0));
    this.#forgetsAt = Math.max(fewestShares, 2 * this.#shares.size);
  }

  #gaveBack({ key }: Share): void {
    if (this.#small.size > 0 && (this.#small.isBlocked || this.#small.has(key))) this.#letIn(this.#small);
    if (this.#large.size > 0 && (this.#large.isBlocked || this.#large.has(key))) this.#letIn(this.#large);
  }

  #letIn(queue: LeaseQueue): void {
    for (;;) {
      const waiter = queue.next(this.#obstacleToWaiter);
      if (waiter === undefined) return;
      const wanted = Math.min(waiter.bytes, this.#limits.largestBytes);
      waiter.entered(this.#hold(waiter.key, this.#shares.get(waiter.key), wanted));
    }
  }

  readonly #obstacleToWaiter = ({ key, bytes }: LeaseWaiter): Obstacle =>
    this.#obstacleTo(this.#shares.get(key), undefined, Math.min(bytes, this.#limits.largestBytes));
}

/** What blocks a waiter: nothing, its key's share, or the total. */
type Obstacle = 'none' | 'share' | 'total';

/** Queue of waiters for memory: first in, first out within a key, and keys in rotation. */
class LeaseQueue {
  /** Waiters by key; the keys in the order in which they get memory. */
  readonly #keys = new Map<string, Set<LeaseWaiter>>();
  size = 0;
  /** The first waiter fits its key's share but not the total: no other may pass it. */
  isBlocked = false;

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  waitingOf(key: string): number {
    return this.#keys.get(key)?.size ?? 0;
  }

  add(waiter: LeaseWaiter): void {
    getOrMake(this.#keys, waiter.key, () => new Set()).add(waiter);
    this.size += 1;
  }

  remove(waiter: LeaseWaiter): void {
    const own = this.#keys.get(waiter.key);
    if (own?.delete(waiter) !== true) return;
    this.size -= 1;
    if (own.size === 0) this.#keys.delete(waiter.key);
  }

  /** Removes the next unblocked waiter; its key then goes to the end. */
  next(obstacleOf: (waiter: LeaseWaiter) => Obstacle): LeaseWaiter | undefined {
    this.isBlocked = false;
    for (const [key, own] of this.#keys) {
      const [first] = own;
      if (first === undefined) continue;
      const obstacle = obstacleOf(first);
      if (obstacle === 'share') continue;
      if (obstacle === 'total') {
        this.isBlocked = true;
        return undefined;
      }
      this.remove(first);
      if (this.#keys.delete(key)) this.#keys.set(key, own);
      return first;
    }
    return undefined;
  }
}

class Share {
  readonly key: string;
  leases = 0;
  /** Bytes held by the key, without the body that is counted separately. */
  bytes = 0;
  apart: HeldLease | undefined = undefined;

  constructor(key: string) {
    this.key = key;
  }

  get apartBytes(): number {
    return this.apart?.bytes ?? 0;
  }
}

class HeldLease implements MemoryLease {
  bytes = 0;
  readonly share: Share;
  readonly #budget: BodyBudget;
  #isReleased = false;

  constructor(budget: BodyBudget, share: Share) {
    this.#budget = budget;
    this.share = share;
  }

  growTo(bytes: number): boolean {
    if (this.#isReleased) return false;
    return bytes <= this.bytes || this.#budget.change(this, bytes);
  }

  shrinkTo(bytes: number): void {
    if (!this.#isReleased && bytes < this.bytes) this.#budget.change(this, bytes);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#budget.drop(this);
  }
}
