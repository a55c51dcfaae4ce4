/** How answers are kept and asked for again. */

import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './client.ts';

const freshMs = 5_000;
const mostRetries = 2;

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshMs,
        retry: (failures, error) =>
          failures < mostRetries && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      },
    },
  });
}
