/** Counters of rate limits and concurrency in this process, by holder. */

import { type Holder, type HolderKind, type Measure, type Rate, type RateWindow, rateWindowMs } from '../core/caps.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Amounts } from './limiter.ts';
import { Window } from './window.ts';

/** Entries checked per millisecond with a request, to drop unused ones. */
const sweptAtOnce = 2;

/** The counts of a holder, independent of its present caps. */
export class HolderCount {
  readonly kind: HolderKind;
  readonly id: string;
  /** Open exchanges and pending questions. */
  open = 0;
  /** Requests in flight under a concurrency limit; and their number in the shared counter. */
  held = 0;
  heldReported = 0;
  /** Exchanges that have begun without a reservation yet. */
  begun = 0;
  /** It was dropped from the counters: get it again. */
  isDropped = false;
  readonly windows = new Map<
    string,
    { readonly measure: Measure; readonly span: RateWindow; readonly window: Window }
  >();

  constructor(kind: HolderKind, id: string) {
    this.kind = kind;
    this.id = id;
  }

  window(measure: Measure, span: RateWindow, nowMs: number): Window {
    const make = () => ({ measure, span, window: new Window(rateWindowMs[span], nowMs) });
    return getOrMake(this.windows, `${measure}:${span}`, make).window;
  }

  isIdleAt(nowMs: number): boolean {
    if (this.open > 0 || this.heldReported !== 0) return false;
    for (const { window } of this.windows.values()) if (!window.isEmptyAt(nowMs)) return false;
    return true;
  }
}

export interface PlannedRate {
  readonly holder: Holder;
  readonly rate: Rate;
  readonly window: Window;
  /** The beginning of its header lines, once it was written. */
  beginning?: string;
}

export interface PlannedCrowd {
  readonly holder: Holder;
  readonly most: number;
  readonly count: HolderCount;
}

/** An access by a variable name would be looked up anew each time. */
export const amountOf = ({ requests, tokens, items }: Amounts, measure: Measure): number =>
  measure === 'requests' ? requests : measure === 'tokens' ? tokens : items;

/** All limits of a list of holders. */
export class Plan {
  readonly rates: readonly PlannedRate[];
  readonly crowds: readonly PlannedCrowd[];
  readonly counts: readonly HolderCount[];

  constructor(rates: readonly PlannedRate[], crowds: readonly PlannedCrowd[], counts: readonly HolderCount[]) {
    this.rates = rates;
    this.crowds = crowds;
    this.counts = counts;
  }

  /** How many counts had been dropped when none of its own was. */
  checkedAt = 0;

  isStale(dropped: number): boolean {
    if (this.checkedAt === dropped) return false;
    for (const count of this.counts) if (count.isDropped) return true;
    this.checkedAt = dropped;
    return false;
  }

  /** Keeps the counts until it is released. */
  hold(): void {
    for (const count of this.counts) count.open += 1;
  }

  letGo(): void {
    for (const count of this.counts) count.open -= 1;
  }

  begin(): void {
    this.hold();
    for (const count of this.counts) count.begun += 1;
  }

  endBeginning(): void {
    for (const count of this.counts) count.begun -= 1;
    this.letGo();
  }

  take(nowMs: number, amounts: Amounts): void {
    this.hold();
    for (const { rate, window } of this.rates) window.add(nowMs, amountOf(amounts, rate.measure));
    for (const { count } of this.crowds) count.held += 1;
  }

  settle(takenAtMs: number, amounts: Amounts, used: Amounts): void {
    for (const { rate, window } of this.rates) {
      const more = amountOf(used, rate.measure) - amountOf(amounts, rate.measure);
      if (more !== 0) window.add(takenAtMs, more);
    }
    for (const { count } of this.crowds) count.held -= 1;
    this.letGo();
  }
}

export class Counters {
  readonly #counts = new Map<string, HolderCount>();
  readonly #plans = new WeakMap<readonly Holder[], Plan>();
  #sweep = this.#counts.values();
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #dropped = 0;

  /** `nowMs` is a whole number. */
  plan(holders: readonly Holder[], nowMs: number): Plan {
    this.#sweepSome(nowMs);
    const known = this.#plans.get(holders);
    if (known !== undefined && !known.isStale(this.#dropped)) return known;
    const plan = this.#makePlan(holders, nowMs);
    this.#plans.set(holders, plan);
    return plan;
  }

  all(): Iterable<HolderCount> {
    return this.#counts.values();
  }

  #makePlan(holders: readonly Holder[], nowMs: number): Plan {
    const rates: PlannedRate[] = [];
    const crowds: PlannedCrowd[] = [];
    const counts: HolderCount[] = [];
    for (const holder of holders) {
      const count = this.#count(holder);
      counts.push(count);
      for (const rate of holder.caps.rates) {
        rates.push({ holder, rate, window: count.window(rate.measure, rate.window, nowMs) });
      }
      const { concurrency } = holder.caps;
      if (concurrency !== undefined) crowds.push({ holder, most: concurrency, count });
    }
    return new Plan(rates, crowds, counts);
  }

  #count({ kind, id }: Holder): HolderCount {
    const name = `${kind} ${id}`;
    return getOrMake(this.#counts, name, () => new HolderCount(kind, id));
  }

  #sweepSome(nowMs: number): void {
    if (nowMs === this.#sweptAtMs) return;
    this.#sweptAtMs = nowMs;
    for (let looked = 0; looked < sweptAtOnce; looked += 1) {
      const { done, value } = this.#sweep.next();
      if (done === true) {
        this.#sweep = this.#counts.values();
        return;
      }
      if (!value.isIdleAt(nowMs)) continue;
      value.isDropped = true;
      this.#dropped += 1;
      this.#counts.delete(`${value.kind} ${value.id}`);
    }
  }
}
