/** The upstreams that models may be answered by, and what each of them lists. */

import { useQuery } from '@tanstack/react-query';
import type { UpstreamModels, UpstreamPage } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';

export function useUpstreams() {
  return useQuery({
    queryKey: ['upstreams', 'names'],
    queryFn: async ({ signal }) => (await ask<UpstreamPage>('/api/upstreams?limit=200', { signal })).items,
  });
}

/** Asked for anew each time: it goes out to the upstream itself. */
export function useUpstreamModels(upstream: string | null) {
  return useQuery({
    queryKey: ['upstreams', 'listed models', upstream],
    queryFn: ({ signal }) =>
      ask<UpstreamModels>(`/api/upstreams/${encodeURIComponent(upstream ?? '')}/models`, { signal }),
    enabled: upstream !== null,
    staleTime: 60_000,
    retry: false,
  });
}
