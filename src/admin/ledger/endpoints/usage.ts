/** Endpoints: usage and cost by group, from the ledger's sums. */

import { countToolCalls, summedNames } from '../../../core/accounting/units.ts';
import { readWholeUsage, totaling, type WholeLine } from '../../../core/accounting/usage-sums.ts';
import type { UsageGroup, UsageLine } from '../../../core/store/ledger.ts';
import { toCsvText } from '../../../lib/csv.ts';
import { withMasks } from '../../../lib/secrets/secret-shapes.ts';
import { inSlices, timeSliced } from '../../../lib/time-slices.ts';
import { priceDates } from '../../../prices/listed.ts';
import { implement } from '../../implement.ts';
import { lookAtField } from '../../problem.ts';
import { toInstant } from '../../shapes/common.ts';
import * as contract from '../contract/usage.ts';
import { usageSums } from '../contract/usage.ts';
import { toShownSums } from '../query.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const standardSpanMs = 30 * dayMs;
const longestByHourMs = 62 * dayMs;
const mostLines = 20_000;

export const getUsage = implement(
  contract.getUsage,
  async ({ query: { by, from, to, format, ...filter }, context: { store, clock, configuration } }) => {
    const endMs = to ?? clock.nowMs();
    const fromMs = from ?? Math.max(endMs - standardSpanMs, 0);
    if (by.includes('hour') && endMs - fromMs > longestByHourMs) {
      throw lookAtField('by', 'By hour, ask for 62 days at most; or add up by day.');
    }
    const lines = await readWholeUsage(store.ledger, { ...filter, fromMs, toMs: to }, by);
    if (lines.length > mostLines) {
      throw lookAtField('by', `These are ${lines.length} lines; ask for a shorter time, or for fewer groups at once.`);
    }
    if (format === 'csv') return toCsv(lines, by);
    const total = await timeSliced(totaling(lines));
    return {
      from: toInstant(Math.floor(fromMs / hourMs) * hourMs),
      to: to === undefined ? null : toInstant(Math.ceil(to / hourMs) * hourMs),
      lines: await inSlices(lines, (line) => ({
        by: toNames(line.by, by),
        ...toShownSums(line.sums),
        units: line.units,
      })),
      total: { ...toShownSums(total.sums), units: total.units },
      prices: priceDates(configuration.snapshot().models.all),
    };
  },
);

function toNames(names: UsageLine['by'], groups: readonly UsageGroup[]): Partial<Record<UsageGroup, string | null>> {
  return Object.fromEntries(groups.map((group) => [group, names[group] || null]));
}

function toCsv(lines: readonly WholeLine[], groups: readonly UsageGroup[]): Response {
  const columns = usageSums.omit({ units: true }).keyof().options;
  const rows = lines.map((line) => {
    const figures = toShownSums(line.sums);
    return [
      ...groups.map((group) => toCsvText(line.by[group] ?? '')),
      ...columns.map((column) => String(figures[column])),
      ...summedNames.map((name) => String(line.units[name] ?? 0)),
      String(countToolCalls(line.units)),
    ];
  });
  const head = [...groups, ...columns, ...summedNames, 'toolCalls'];
  const text = [head, ...rows].map((row) => `${withMasks(row.join(','))}\r\n`).join('');
  return new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="postern-usage.csv"',
    },
  });
}
