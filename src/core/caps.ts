/** Defines the limits and budgets that a key, project, model or upstream can have: rates, concurrency and money. */

/** What rate limits count: requests, tokens (input and output), and items of a list (inputs, documents). */
export const measures = ['requests', 'tokens', 'items'] as const;
export type Measure = (typeof measures)[number];

export const rateWindows = ['minute', 'day'] as const;
export type RateWindow = (typeof rateWindows)[number];

export type LimitName = `${Measure}_per_${RateWindow}` | 'concurrency';

export const limitNames: readonly LimitName[] = [
  ...measures.flatMap((measure) => rateWindows.map((window): LimitName => `${measure}_per_${window}`)),
  'concurrency',
];

export const rateWindowMs: Readonly<Record<RateWindow, number>> = Object.freeze({ minute: 60_000, day: 86_400_000 });

/** A rate limit: at most this many within any time span of the window's length. */
export interface Rate {
  readonly measure: Measure;
  readonly window: RateWindow;
  readonly most: number;
}

/** When a budget begins anew, in UTC; weeks begin on Monday, and `total` never does. */
export const budgetPeriods = ['day', 'week', 'month', 'total'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export interface Budget {
  readonly period: BudgetPeriod;
  readonly nanos: number;
  /** Percentages at which the operator is notified, in rising order. */
  readonly alerts: readonly number[];
}

export interface Caps {
  readonly rates: readonly Rate[];
  readonly concurrency: number | undefined;
  /** At most one budget for each period. */
  readonly budgets: readonly Budget[];
}

export const noCaps: Caps = Object.freeze({
  rates: Object.freeze([]),
  concurrency: undefined,
  budgets: Object.freeze([]),
});

export const holderKinds = ['key', 'project', 'model', 'upstream'] as const;
export type HolderKind = (typeof holderKinds)[number];

/** A key, project, model or upstream, with its limits and budgets. `id` is unique within its kind. */
export interface Holder {
  readonly kind: HolderKind;
  readonly id: string;
  readonly caps: Caps;
}
