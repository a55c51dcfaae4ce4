/** Interface to the ledger's time series in the store: counts, cost and latency per time step, as charts show them. */

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

/** Results of requests, named as people see them. */
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
  /** Length of a time step; undefined: chosen by the length of the time span. */
  readonly stepMs?: number | undefined;
  /** Offset of a time zone, east of UTC: steps of six hours and of a day begin by it, in spans up to a month. */
  readonly zoneMs: number;
  readonly filter: Readonly<Partial<Record<Exclude<SeriesDimension, 'outcome'>, string | undefined>>> & {
    readonly outcomes?: readonly RowOutcome[] | undefined;
  };
  readonly by: readonly SeriesDimension[];
  readonly top: number;
  readonly order: SeriesOrder;
  /** Names of the lines to return, in place of the largest lines. */
  readonly lines?: readonly (readonly string[])[] | undefined;
  readonly latency: LatencyKind;
  readonly wantsHeatmap: boolean;
  readonly wantsPoints: boolean;
}

/** A query for one figure over the whole span, without points. */
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

/** Percentiles of a latency in milliseconds, exact to 1 %. */
export interface Percentiles {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export type SeriesFigures = Readonly<Record<SeriesCount, number>> &
  Readonly<Record<LatencyKind, Percentiles | undefined>>;

/** Values of a line over time: one for each step; empty where no points were requested. */
export interface SeriesPoints {
  readonly counts: Readonly<Partial<Record<SeriesCount, readonly number[]>>>;
  /** Percentiles for each step; null where nothing was measured. */
  readonly percentiles: readonly (Percentiles | null)[];
}

export interface SeriesLine {
  /** The line's group: one name for each dimension of the query; empty where a request had none. */
  readonly names: readonly string[];
  /** The line adds up all groups that have no line of their own, and those too rare to be stored separately. */
  readonly isOthers: boolean;
  readonly figures: SeriesFigures;
  readonly points: SeriesPoints;
}

export interface SeriesAnswer {
  /** The span, rounded to steps. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  readonly timesMs: readonly number[];
  /** No data are older than this time. */
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
  /** Reads time series. Throws a RangeError where a step does not fit the span. */
  read(query: SeriesQuery): Promise<SeriesAnswer>;
  /** Sums up finished spans, and deletes expired ones. True where there is more to do. */
  tend(retentionMs: number, pruneNowMs: number): Promise<boolean>;
}
