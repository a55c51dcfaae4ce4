/** Usage as text: a table for people, CSV and JSON for what reads it on. */

import { addSums, noSums } from '../../core/accounting/usage-sums.ts';
import type { UsageGroup, UsageLine, UsageSums } from '../../core/store/ledger.ts';
import { toCsvText } from '../../lib/csv.ts';
import { toDollars } from '../../lib/money.ts';
import { toPrintable } from '../printable.ts';
import { toTable } from '../table.ts';

/** A millionth of a dollar; in tables, smaller parts of one are rounded. */
const nanosShown = 1_000n;

const addUpLines = (lines: readonly UsageLine[]): UsageSums =>
  lines.reduce((total, { sums }) => addSums(total, sums), noSums);

const tableHead = ['REQUESTS', 'ERRORS', 'INPUT', 'OUTPUT', 'UNITS', 'ITEMS', 'DOLLARS', 'UNPRICED', 'ESTIMATED'];

/** With a line for the total below. */
export function toUsageTable(lines: readonly UsageLine[], groups: readonly UsageGroup[]): string[] {
  const rows = lines.map(({ by, sums }) => [...groups.map((group) => toName(by[group])), ...toCells(sums)]);
  const total = addUpLines(lines);
  rows.push([...groups.map((_, index) => (index === 0 ? 'total' : '')), ...toCells(total)]);
  const head = [...groups.map((group) => group.toUpperCase()), ...tableHead];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const align = (row: readonly string[]): string[] =>
    row.map((cell, column) => (column < groups.length ? cell : cell.padStart(widths[column] ?? 0)));
  const table = toTable(align(head), rows.map(align));
  return [...table, ...toNotes([total, ...lines.map(({ sums }) => sums)])];
}

function toCells(sums: UsageSums): string[] {
  const { requests, errors, inputTokens, outputTokens, searchUnits, items, costNanos, unpriced, estimated } = sums;
  const counts = [requests, errors, inputTokens, outputTokens, searchUnits, items].map(String);
  return [...counts, toShortDollars(costNanos), String(unpriced), String(estimated)];
}

const toName = (text: string | undefined): string => toPrintable(text ?? '') || '-';

/** What the figures do not say by themselves. */
function toNotes([total = noSums, ...lines]: readonly UsageSums[]): string[] {
  const notes: string[] = [];
  if (lines.some(({ costNanos }) => costNanos % nanosShown !== 0n)) {
    notes.push('Dollars are rounded to six decimals here; --csv and --json have all of them.');
  }
  if (total.unpriced > 0) notes.push('The cost of unpriced requests is not known, and is not in the sum.');
  return notes.length === 0 ? notes : ['', ...notes];
}

/** At least two decimals, and six at most. */
export function toShortDollars(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  if (size > 0n && size < nanosShown) return nanos < 0n ? '>-0.000001' : '<0.000001';
  const rounded = ((size + nanosShown / 2n) / nanosShown) * nanosShown;
  const [whole = '0', fraction = ''] = toDollars(rounded).split('.');
  return `${nanos < 0n ? '-' : ''}${whole}.${fraction.padEnd(2, '0')}`;
}

/** The same names in CSV and JSON; money is whole, as decimal text. */
function toFields(sums: UsageSums) {
  return {
    requests: sums.requests,
    errors: sums.errors,
    input_tokens: sums.inputTokens,
    output_tokens: sums.outputTokens,
    search_units: sums.searchUnits,
    items: sums.items,
    cost_dollars: toDollars(sums.costNanos),
    unpriced: sums.unpriced,
    estimated: sums.estimated,
    request_bytes: sums.requestBytes,
    response_bytes: sums.responseBytes,
    duration_ms: Math.round(sums.durationMs),
  };
}

export function toUsageJson(lines: readonly UsageLine[], groups: readonly UsageGroup[]) {
  return lines.map(({ by, sums }) => ({
    ...Object.fromEntries(groups.map((group) => [group, by[group] === '' ? null : (by[group] ?? null)])),
    ...toFields(sums),
  }));
}

export function toTotalJson(lines: readonly UsageLine[]) {
  return toFields(addUpLines(lines));
}

export function toUsageCsv(lines: readonly UsageLine[], groups: readonly UsageGroup[]): string[] {
  const head = [...groups, ...Object.keys(toFields(noSums))];
  const rows = lines.map(({ by, sums }) => [
    ...groups.map((group) => toCsvText(by[group] ?? '')),
    ...Object.values(toFields(sums)).map(String),
  ]);
  return [head, ...rows].map((row) => row.join(','));
}
