/** Which stretch of time and which grouping the page shows, as its address has it. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import type { FirstSteps, Overview } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

export const views = ['live', '1h', '24h', '7d', '30d'] as const;
export type View = (typeof views)[number];
export type Range = Exclude<View, 'live'>;

export const viewWords: Readonly<Record<View, string>> = {
  live: 'Live',
  '1h': '1 h',
  '24h': '24 h',
  '7d': '7 d',
  '30d': '30 d',
};

export const rangeWords: Readonly<Record<Range, string>> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
};

export const groupings = ['operation', 'model', 'key', 'project', 'upstream'] as const;
export type Grouping = (typeof groupings)[number];

export const groupingWords: Readonly<Record<Grouping, string>> = {
  operation: 'Operation',
  model: 'Model',
  key: 'Key',
  project: 'Project',
  upstream: 'Upstream',
};

export const orders = ['requests', 'cost', 'errors'] as const;
export type Order = (typeof orders)[number];
export const orderWords: Readonly<Record<Order, string>> = { requests: 'Requests', cost: 'Cost', errors: 'Errors' };

export interface Sight {
  readonly view: View;
  readonly by: Grouping;
  readonly order: Order;
}

const standard: Sight = { view: 'live', by: 'model', order: 'requests' };

const readSight = (query: URLSearchParams): Sight => ({
  view: views.find((one) => one === query.get('range')) ?? standard.view,
  by: groupings.find((one) => one === query.get('by')) ?? standard.by,
  order: orders.find((one) => one === query.get('order')) ?? standard.order,
});

/** What is as it is anyway does not stand in the address. */
function writeSight(query: URLSearchParams, { view, by, order }: Sight): URLSearchParams {
  const next = new URLSearchParams(query);
  const set = (name: string, value: string, usual: string): void => {
    if (value === usual) next.delete(name);
    else next.set(name, value);
  };
  set('range', view, standard.view);
  set('by', by, standard.by);
  set('order', order, standard.order);
  return next;
}

export function useSight(): readonly [Sight, (more: Partial<Sight>) => void] {
  const [query, setQuery] = useSearchParams();
  const sight = readSight(query);
  return [
    sight,
    (more) => setQuery((before) => writeSight(before, { ...readSight(before), ...more }), { replace: true }),
  ];
}

/** Beside the live view stand the sums of the hour. */
export const rangeOf = (view: View): Range => (view === 'live' ? '1h' : view);

/** Times of the sums, as fine as they are. */
export const toBucketWords = (at: string, { bucket, range }: { bucket: Overview['bucket']; range: Range }): string =>
  (bucket === 'day' ? days : range === '7d' ? dayHours : hours).format(new Date(at));

const hours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dayHours = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' });
/** Days are added up in UTC. */
const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

const soonMs = 10_000;
const seldomMs = 60_000;
const healthMs = 5_000;
const noticesMs = 10_000;

/** What the page asks for besides the live feed, and how often. Nothing is asked for while the page is hidden. */
export function useOverview({ view, by, order }: Sight) {
  const range = rangeOf(view);
  return useQuery({
    queryKey: ['overview', range, by, order],
    queryFn: ({ signal }) => ask('GET /api/overview', { query: { range, by, order }, signal }),
    refetchInterval: range === '7d' || range === '30d' ? seldomMs : soonMs,
    placeholderData: keepPreviousData,
  });
}

export function useHealth() {
  return useQuery({
    queryKey: ['health'],
    queryFn: ({ signal }) => ask('GET /api/health', { signal }),
    refetchInterval: healthMs,
  });
}

export function useNotices() {
  return useQuery({
    queryKey: ['notices'],
    queryFn: async ({ signal }) => (await ask('GET /api/notices', { signal })).items,
    refetchInterval: noticesMs,
  });
}

export function useFirstSteps() {
  return useQuery({
    queryKey: ['first-steps'],
    queryFn: ({ signal }) => ask('GET /api/first-steps', { signal }),
    refetchInterval: ({ state }) => (isNew(state.data) ? healthMs : false),
  });
}

const enoughRequests = 20;

/** There is a step left that a newcomer would want to be told of. */
export function isNew(steps: FirstSteps | undefined): boolean {
  if (steps === undefined) return false;
  const { requests, tries } = steps;
  return requests === 0 || (tries === 0 && requests < enoughRequests);
}
