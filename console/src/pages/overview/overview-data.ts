/** What the overview asks for, and how often. Nothing is asked for while the page is hidden. */

import { useQuery } from '@tanstack/react-query';
import type { FirstSteps } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

const nowMs = 5_000;
const healthMs = 5_000;
const noticesMs = 10_000;

export function useNow() {
  return useQuery({
    queryKey: ['now'],
    queryFn: ({ signal }) => ask('GET /api/now', { signal }),
    refetchInterval: nowMs,
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
