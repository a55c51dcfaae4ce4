/** Holds calls that wait only for an upstream's rate limit. At the reset they are tried one by one, until one is refused again. */

import { performance } from 'node:perf_hooks';
import type { PacedCall, Pacing } from '../../core/dispatch.ts';
import type { Lane } from '../../core/lane.ts';
import { BulkCredit, FairQueue } from './fair-queue.ts';

export class Pacer implements Pacing {
  readonly #queues = { interactive: new FairQueue<PacedCall>(), bulk: new FairQueue<PacedCall>() };
  /** For each lane the call that was refused again: it stays first. */
  readonly #first: { interactive: PacedCall | undefined; bulk: PacedCall | undefined };
  #trying: PacedCall | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #dueMs = 0;
  readonly #credit = new BulkCredit();
  readonly #bulkShare: () => number;

  constructor(bulkShare: () => number) {
    this.#bulkShare = bulkShare;
    this.#first = { interactive: undefined, bulk: undefined };
  }

  waitingIn(lane: Lane): number {
    return this.#queues[lane].size + (this.#first[lane] === undefined ? 0 : 1);
  }

  behindMs(lane: Lane): number | undefined {
    const isFirst = this.waitingIn('interactive') === 0 && (lane === 'interactive' || this.waitingIn('bulk') === 0);
    return isFirst ? undefined : Math.max(0, this.#dueMs - performance.now());
  }

  wait(call: PacedCall, inMs: number): void {
    if (this.#trying === call) {
      this.#trying = undefined;
      this.#first[call.lane] = call;
    } else this.#queues[call.lane].add(call);
    this.#wakeIn(inMs);
  }

  done(call: PacedCall): void {
    if (this.#trying === call) {
      this.#trying = undefined;
      // Credit changes only now: a retry that was refused again cost the other lane nothing.
      if (call.lane === 'bulk') this.#credit.clear();
      else if (this.waitingIn('bulk') > 0) this.#credit.add(this.#bulkShare());
      this.#wake();
    } else if (this.#first[call.lane] === call) this.#first[call.lane] = undefined;
    else this.#queues[call.lane].remove(call);
  }

  #wakeIn(inMs: number): void {
    const dueMs = performance.now() + inMs;
    if (this.#timer !== undefined) {
      if (this.#dueMs <= dueMs) return;
      clearTimeout(this.#timer);
    }
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => this.#onDue(), Math.ceil(inMs)).unref();
  }

  #onDue(): void {
    this.#timer = undefined;
    this.#wake();
  }

  #wake(): void {
    if (this.#trying !== undefined) return;
    const next = this.#next();
    if (next === undefined) return;
    this.#trying = next;
    next.resume();
  }

  #next(): PacedCall | undefined {
    const isBulkWaiting = this.waitingIn('bulk') > 0;
    if (this.waitingIn('interactive') === 0 || !isBulkWaiting) {
      this.#credit.clear();
      return this.#take(isBulkWaiting ? 'bulk' : 'interactive');
    }
    return this.#take(this.#credit.isOwed ? 'bulk' : 'interactive');
  }

  #take(lane: Lane): PacedCall | undefined {
    const first = this.#first[lane];
    this.#first[lane] = undefined;
    return first ?? this.#queues[lane].shift();
  }
}
