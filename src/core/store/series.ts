/** Series of the ledger over time: what can be asked of them, what comes back, and their port. */

import type { RowOutcome } from '../accounting/ledger-row.ts';

/** What requests are told apart by. */
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

/** How requests end, as people are told. */
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

export const latencyKinds = ['duration', 'firstByte', 'overhead'] as const;
export type LatencyKind = (typeof latencyKinds)[number];

export const seriesOrders = ['requests', 'failed', 'refused', 'cost', 'p95'] as const;
export type SeriesOrder = (typeof seriesOrders)[number];
