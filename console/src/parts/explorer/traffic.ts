/** The last day's traffic in lists: requests, p95 and cost of a model, an upstream or a key. */

import type { ListedKey } from '../../../../src/admin/contract.ts';
import { formatCompact, formatDuration, formatMoney } from '../words/format.ts';

type Traffic = ListedKey['traffic'];

export const trafficColumns = ['Requests, 24 h', 'p95', 'Cost, 24 h'] as const;
const [requests, p95, cost] = trafficColumns;

/** What the API sorts by, for each of the columns. */
export const trafficSorts = { [requests]: 'requests', [p95]: 'p95', [cost]: 'cost' } as const;

/** As many as there are columns; a dash where there was nothing. */
export function trafficCells(traffic: Traffic): string[] {
  if (traffic === null) return trafficColumns.map(() => '–');
  const { requests, duration, cost } = traffic;
  return [formatCompact(requests), duration === null ? '–' : formatDuration(duration.p95), formatMoney(cost)];
}

/** The same in a sentence, for cards. */
export function trafficWords(traffic: Traffic): string {
  if (traffic === null) return 'No requests';
  const [requests, p95, cost] = trafficCells(traffic);
  return `${requests} requests, p95 ${p95}, ${cost}`;
}
