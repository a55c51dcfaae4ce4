/** Queries the series that the Explorer's charts show. */

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ask } from '../api/client.ts';
import { type Filters, spanOf, toParameters, toSeriesQuery } from './filters.ts';
import { type Sight, toSightQuery } from './sight.ts';

const hourMs = 3_600_000;
const soonMs = 5_000;
const laterMs = 15_000;
const seldomMs = 60_000;

export function useSeries(filters: Filters, sight: Sight) {
  const { fromMs, toMs } = spanOf(filters, Date.now());
  const spanMs = toMs - fromMs;
  const everyMs = spanMs < hourMs ? soonMs : spanMs <= 6 * hourMs ? laterMs : seldomMs;
  const asked = { ...toSightQuery(sight), ...toParameters({ ...filters, search: '' }), range: filters.range };
  return useQuery({
    queryKey: ['series', asked],
    queryFn: ({ signal }) =>
      ask('GET /api/series', {
        query: { ...toSeriesQuery({ ...filters, search: '' }, Date.now()), ...toSightQuery(sight) },
        signal,
      }),
    placeholderData: keepPreviousData,
    // A time range in the past does not change.
    refetchInterval: filters.to === undefined ? everyMs : false,
  });
}
