/** The upstreams that models may be answered by, and what each of them lists. */

import { useQuery } from '@tanstack/react-query';
import { ask } from '../../parts/api/client.ts';

export function useUpstreams() {
  return useQuery({
    queryKey: ['upstreams', 'names'],
    queryFn: async ({ signal }) => (await ask('GET /api/upstreams', { query: { limit: 200 }, signal })).items,
  });
}

/** Asked for anew each time: it goes out to the upstream itself. */
export function useUpstreamModels(upstream: string | null) {
  return useQuery({
    queryKey: ['upstreams', 'listed models', upstream],
    queryFn: ({ signal }) => ask('GET /api/upstreams/:id/models', { params: { id: upstream ?? '' }, signal }),
    enabled: upstream !== null,
    staleTime: 60_000,
    retry: false,
  });
}
