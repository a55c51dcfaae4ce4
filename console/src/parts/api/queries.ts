/** How answers are kept and asked for again. */

import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';

const freshMs = 5_000;
const mostRetries = 2;

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // A gateway on this machine is there without any network.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: freshMs,
        retry: (failures, error) =>
          failures < mostRetries && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      },
    },
  });
}
