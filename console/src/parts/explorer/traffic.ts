/** The last day's traffic for list rows: requests, p95 and cost per model or upstream. */

import { useQuery } from '@tanstack/react-query';
import type { SeriesFigures } from '../../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import type { Sorting } from '../layout/table.tsx';
import { formatCompact, formatDuration, formatMoney } from '../words/format.ts';

type Dimension = 'model' | 'upstream';
export type Traffic = ReadonlyMap<string, SeriesFigures>;

const dayMs = 86_400_000;
const everyMs = 30_000;
/** The busiest; what is beyond them had little. */
const mostLines = 50;
const none: Traffic = new Map();

export function useTraffic(by: Dimension): Traffic {
  const { data } = useQuery({
    queryKey: ['series', 'traffic', by],
    queryFn: async ({ signal }): Promise<Traffic> => {
      const from = new Date(Date.now() - dayMs).toISOString();
      const { lines } = await ask('GET /api/series', { query: { by, from, step: '1d', top: mostLines }, signal });
      return new Map(lines.flatMap((line) => (line.isOthers ? [] : [[line.by[by] ?? '', line.figures] as const])));
    },
    refetchInterval: everyMs,
  });
  return data ?? none;
}

export const trafficColumns = ['Requests, 24 h', 'p95', 'Cost, 24 h'] as const;

/** Those of the columns. */
interface Figures extends Pick<SeriesFigures, 'requests' | 'cost'> {
  readonly duration: { readonly p95: number } | null;
}

/** As many as there are columns; a dash where there was nothing. */
export function trafficCells(figures: Figures | undefined): string[] {
  if (figures === undefined) return trafficColumns.map(() => '–');
  const { requests, duration, cost } = figures;
  return [formatCompact(requests), duration === null ? '–' : formatDuration(duration.p95), formatMoney(cost)];
}

/** The same in a sentence, for cards. */
export function trafficWords(figures: SeriesFigures | undefined): string {
  if (figures === undefined) return 'No requests';
  const [requests, p95, cost] = trafficCells(figures);
  return `${requests} requests, p95 ${p95}, ${cost}`;
}

/** In the order of a column of traffic, or of names. What is the same stays as it was. */
export function sortedBy<T>(
  items: readonly T[],
  { by, isDescending }: Sorting,
  idOf: (item: T) => string,
  traffic: Traffic,
): T[] {
  const numberOf = (item: T): number => {
    const figures = traffic.get(idOf(item));
    if (figures === undefined) return -1;
    const [requests, p95] = trafficColumns;
    return by === requests ? figures.requests : by === p95 ? (figures.duration?.p95 ?? -1) : Number(figures.cost);
  };
  const isOfTraffic = trafficColumns.some((column) => column === by);
  const compare = (a: T, b: T): number =>
    isOfTraffic ? numberOf(b) - numberOf(a) : idOf(b).localeCompare(idOf(a), undefined, { numeric: true });
  return items.toSorted((a, b) => (isDescending ? compare(a, b) : compare(b, a)));
}
