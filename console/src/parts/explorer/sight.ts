/** Keeps the view options of the Explorer in the URL: split, comparison, latency percentile and tab. */

import { latencyKinds, seriesDimensions, seriesOrders } from '../../../../src/admin/contract.ts';
import { oneOf } from '../api/asking.ts';

export type Dimension = (typeof seriesDimensions)[number];
export type LatencyKind = (typeof latencyKinds)[number];
type Order = (typeof seriesOrders)[number];

export const comparisons = ['before', 'day', 'week', 'none'] as const;
export type Comparison = (typeof comparisons)[number];

export const comparisonWords: Readonly<Record<Comparison, string>> = {
  before: 'the period before',
  day: 'a day earlier',
  week: 'a week earlier',
  none: 'nothing',
};

export const views = ['charts', 'cost'] as const;
export type View = (typeof views)[number];

export interface Sight {
  readonly view: View;
  /** The dimensions of the split, at most two. */
  readonly by: readonly Dimension[];
  readonly compare: Comparison;
  readonly latency: LatencyKind;
  readonly isHeat: boolean;
  readonly order: Order;
}

const mostSplits = 2;

export function readSight(query: URLSearchParams): Sight {
  const asked = (query.get('by') ?? '').split(',');
  const view = oneOf(views, query.get('view')) ?? 'charts';
  return {
    view,
    by: seriesDimensions.filter((one) => asked.includes(one)).slice(0, mostSplits),
    compare: oneOf(comparisons, query.get('compare')) ?? 'before',
    latency: oneOf(latencyKinds, query.get('latency')) ?? 'duration',
    isHeat: query.get('heat') === '1',
    order: oneOf(seriesOrders, query.get('order')) ?? (view === 'cost' ? 'cost' : 'requests'),
  };
}

/** The options as URL parameters; defaults are left out. */
export const sightParameters = {
  view: (view: View) => ({ view: view === 'charts' ? undefined : view }),
  by: (by: readonly Dimension[]) => ({ by: by.length === 0 ? undefined : by.join(',') }),
  compare: (compare: Comparison) => ({ compare: compare === 'before' ? undefined : compare }),
  latency: (latency: LatencyKind) => ({ latency: latency === 'duration' ? undefined : latency }),
  heat: (isHeat: boolean) => ({ heat: isHeat ? '1' : undefined }),
};

/** The options as query parameters for series. Cost is split by model even if the user chose no split. */
export function toSightQuery({ view, by, compare, latency, isHeat, order }: Sight) {
  const split = view === 'cost' && by.length === 0 ? ['model'] : by;
  return {
    by: split.join(','),
    order,
    top: 8,
    latency,
    heatmap: isHeat && view === 'charts' ? 'true' : undefined,
    compare: compare === 'none' ? undefined : compare,
    zone: -new Date().getTimezoneOffset(),
  };
}
