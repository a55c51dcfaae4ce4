/** Counts the use of rate limits and concurrency limits in this process, for each holder (key, project, model, upstream). */

import { type Holder, type HolderKind, type Measure, type Rate, type RateWindow, rateWindowMs } from '../core/caps.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Amounts } from './limiter.ts';
import { Window } from './window.ts';

/** Entries checked for being unused in each millisecond that has a request; unused ones are dropped. */
const sweptAtOnce = 2;

/** The counts of one holder, whatever limits it has at present. */
export class HolderCount {
  readonly kind: HolderKind;
  readonly id: string;
  /** Number of open exchanges, and of questions to another process that are pending. */
  open = 0;
  /** Requests in flight under a concurrency limit, and how many of them the shared counter knows. */
  held = 0;
  heldReported = 0;
  /** Exchanges that have begun, but reserved nothing yet. */
  begun = 0;
  /** The counters have dropped this object: a new one must be requested. */
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
  beginning?: string;
}

export interface PlannedSlots {
  readonly holder: Holder;
  readonly most: number;
  readonly count: HolderCount;
}

/** One amount by its measure. Written out, as an access by a variable name would be looked up anew each time. */
export const amountOf = ({ requests, tokens, items }: Amounts, measure: Measure): number =>
  measure === 'requests' ? requests : measure === 'tokens' ? tokens : items;

/** The limits and counts of a list of holders, prepared for decisions. */
export class Plan {
  readonly rates: readonly PlannedRate[];
  readonly slots: readonly PlannedSlots[];
  readonly counts: readonly HolderCount[];

  constructor(rates: readonly PlannedRate[], slots: readonly PlannedSlots[], counts: readonly HolderCount[]) {
    this.rates = rates;
    this.slots = slots;
    this.counts = counts;
  }

  /** How many counts had been dropped in all when this plan was last checked; at that time none of its own was. */
  checkedAt = 0;

  isStale(dropped: number): boolean {
    if (this.checkedAt === dropped) return false;
    for (const count of this.counts) if (count.isDropped) return true;
    this.checkedAt = dropped;
    return false;
  }

  /** Keeps the counts from being dropped until `letGo`. */
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
    for (const { count } of this.slots) count.held += 1;
  }

  settle(takenAtMs: number, amounts: Amounts, used: Amounts): void {
    for (const { rate, window } of this.rates) {
      const more = amountOf(used, rate.measure) - amountOf(amounts, rate.measure);
      if (more !== 0) window.add(takenAtMs, more);
    }
    for (const { count } of this.slots) count.held -= 1;
    this.letGo();
  }
}

export class Counters {
  readonly #counts = new Map<string, HolderCount>();
  readonly #plans = new WeakMap<readonly Holder[], Plan>();
  #sweep = this.#counts.values();
  #sweptAtMs = Number.NEGATIVE_INFINITY;
  #dropped = 0;

  /** The plan for a list of holders; `nowMs` is a whole number. */
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
    const slots: PlannedSlots[] = [];
    const counts: HolderCount[] = [];
    for (const holder of holders) {
      const count = this.#count(holder);
      counts.push(count);
      for (const rate of holder.caps.rates) {
        rates.push({ holder, rate, window: count.window(rate.measure, rate.window, nowMs) });
      }
      const { concurrency } = holder.caps;
      if (concurrency !== undefined) slots.push({ holder, most: concurrency, count });
    }
    return new Plan(rates, slots, counts);
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
