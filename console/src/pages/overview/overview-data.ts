/** Sends the queries of the overview at intervals. Nothing is fetched while the page is hidden. */

import { useQuery } from '@tanstack/react-query';
import type { FirstSteps } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

const nowMs = 5_000;
const noticesMs = 10_000;

export function useNow() {
  return useQuery({
    queryKey: ['now'],
    queryFn: ({ signal }) => ask('GET /api/now', { signal }),
    refetchInterval: nowMs,
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
    refetchInterval: ({ state }) => (isNew(state.data) ? nowMs : false),
  });
}

export const isNew = (steps: FirstSteps | undefined): boolean => steps?.requests === 0;
