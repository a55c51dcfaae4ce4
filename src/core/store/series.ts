/** Time series of the ledger in the store: queries, results, and the interface. */

import type { RowOutcome } from '../accounting/ledger-row.ts';

export const seriesDimensions = [
  'model',
  'upstream',
  'key',
  'project',
  'operation',
  'outcome',
  'code',
  'cache',
] as const;
export type SeriesDimension = (typeof seriesDimensions)[number];

/** Results of requests, by the names that people see. */
export const requestResults = ['succeeded', 'failed', 'refused', 'cancelled'] as const;
export type RequestResult = (typeof requestResults)[number];

export const resultOf: Readonly<Record<RowOutcome, RequestResult>> = {
  ok: 'succeeded',
  error: 'failed',
  cut: 'failed',
  lost: 'failed',
  refused: 'refused',
  aborted: 'cancelled',
};

export const latencyKinds = ['duration', 'firstByte', 'overhead', 'wait'] as const;
type LatencyKind = (typeof latencyKinds)[number];

export const seriesOrders = ['requests', 'failed', 'refused', 'cost', 'p95'] as const;
type SeriesOrder = (typeof seriesOrders)[number];

export interface SeriesQuery {
  readonly fromMs: number;
  readonly toMs: number;
  /** Undefined: chosen by the length of the span. */
  readonly stepMs?: number | undefined;
  /** East of UTC: the time zone in which steps of six hours and of a day begin, for spans up to a month. */
  readonly zoneMs: number;
  readonly filter: Readonly<Partial<Record<Exclude<SeriesDimension, 'outcome'>, string | undefined>>> & {
    readonly outcomes?: readonly RowOutcome[] | undefined;
  };
  readonly by: readonly SeriesDimension[];
  readonly top: number;
  readonly order: SeriesOrder;
  /** These lines, in place of the largest ones. */
  readonly lines?: readonly (readonly string[])[] | undefined;
  /** Of points and heat map. */
  readonly latency: LatencyKind;
  readonly wantsHeatmap: boolean;
  readonly wantsPoints: boolean;
}

/** One figure for the whole span, without points. */
export const wholeStretch: Omit<SeriesQuery, 'fromMs' | 'toMs'> = {
  zoneMs: 0,
  filter: {},
  by: [],
  top: 1,
  order: 'requests',
  latency: 'duration',
  wantsHeatmap: false,
  wantsPoints: false,
};

/** Sums over requests, whatever their result. */
export const seriesAmounts = [
  'items',
  'inputTokens',
  'outputTokens',
  'searchUnits',
  'costNanos',
  'unpriced',
  'savedItems',
  'savedNanos',
] as const;

export const seriesCounts = [
  'requests',
  ...requestResults,
  'cached',
  'attempts',
  'failedAttempts',
  ...seriesAmounts,
] as const;
export type SeriesCount = (typeof seriesCounts)[number];

/** Milliseconds, within 1 %. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export type SeriesFigures = Readonly<Record<SeriesCount, number>> &
  Readonly<Record<LatencyKind, Percentiles | undefined>>;

/** One value for each step; empty where no points were asked for. */
export interface SeriesPoints {
  readonly counts: Readonly<Partial<Record<SeriesCount, readonly number[]>>>;
  /** Null where nothing was measured. */
  readonly percentiles: readonly (Percentiles | null)[];
}

export interface SeriesLine {
  /** In the order of the split; empty where a request had no such name. */
  readonly names: readonly string[];
  /** The remaining lines together, and those too rare to be kept apart. */
  readonly isOthers: boolean;
  readonly figures: SeriesFigures;
  readonly points: SeriesPoints;
}

export interface SeriesAnswer {
  /** As rounded. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly timesMs: readonly number[];
  /** There are no older data. */
  readonly sinceMs: number;
  readonly total: Pick<SeriesLine, 'figures' | 'points'>;
  readonly lines: readonly SeriesLine[];
  readonly heatmap: { readonly bounds: readonly number[]; readonly counts: readonly (readonly number[])[] } | undefined;
  readonly codes: readonly { readonly code: string; readonly outcome: RowOutcome; readonly requests: number }[];
  readonly attemptErrors: readonly {
    readonly upstream: string;
    readonly kind: string;
    readonly code: string;
    readonly attempts: number;
  }[];
}

export interface SeriesStore {
  /** Throws a RangeError where a step does not fit the span. */
  read(query: SeriesQuery): Promise<SeriesAnswer>;
  /** Rolls up finished spans, and deletes expired ones. True where there is more to do. */
  tend(retentionMs: number, pruneNowMs: number): Promise<boolean>;
}
