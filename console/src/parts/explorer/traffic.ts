/** Formats the last day's traffic for lists: requests, p95 and cost of a model, an upstream or a key. */

import type { ListedKey } from '../../../../src/admin/contract.ts';
import { formatCompact, formatDuration, formatMoney } from '../words/format.ts';

type Traffic = ListedKey['traffic'];

const [requests, p95, cost] = ['Requests, 24\u00a0h', 'p95', 'Cost, 24\u00a0h'] as const;

/** Columns with traffic for a table; they contain numbers and can be sorted. */
export const trafficColumns = [
  { title: requests, w: 92 },
  { title: p95, w: 76 },
  { title: cost, w: 78 },
].map((column) => ({ ...column, ta: 'right' as const, isSortable: true }));

export const trafficSorts = { [requests]: 'requests', [p95]: 'p95', [cost]: 'cost' } as const;

export function trafficCells(traffic: Traffic): string[] {
  if (traffic === null) return trafficColumns.map(() => '–');
  const { requests, duration, cost } = traffic;
  return [formatCompact(requests), duration === null ? '–' : formatDuration(duration.p95), formatMoney(cost)];
}

export function trafficWords(traffic: Traffic): string {
  if (traffic === null) return 'No requests';
  const [requests, p95, cost] = trafficCells(traffic);
  return `${requests} requests, p95 ${p95}, ${cost}`;
}
