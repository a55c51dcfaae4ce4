/** What the page asks for besides the live feed, and how often. Nothing is asked for while the page is hidden. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { FirstSteps } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { rangeOf, type Sight } from './range.ts';

const soonMs = 10_000;
const seldomMs = 60_000;
const healthMs = 5_000;
const noticesMs = 10_000;

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
