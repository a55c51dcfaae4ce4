/** Usage as text: a table for people, CSV and JSON for what reads it on. */

import { countToolCalls, summedNames, type UnitSums } from '../../core/accounting/units.ts';
import { noSums, toTotal, type WholeLine } from '../../core/accounting/usage-sums.ts';
import type { UsageGroup, UsageSums } from '../../core/store/ledger.ts';
import { toCsvText } from '../../lib/csv.ts';
import { toDollars } from '../../lib/money.ts';
import { ageText, type PriceDate } from '../../prices/listed.ts';
import { toPrintable } from '../printable.ts';
import { toTable } from '../table.ts';
import { toSnakeName, toSnakeNames } from './ledger-words.ts';

/** A millionth of a dollar; in tables, smaller parts of one are rounded. */
const nanosShown = 1_000n;

type Figures = Pick<WholeLine, 'sums' | 'units'>;

const tableHead = ['REQUESTS', 'ERRORS', 'INPUT', 'OUTPUT', 'UNITS', 'ITEMS', 'DOLLARS', 'UNPRICED', 'ESTIMATED'];

/** Shown where any line has some. */
const unitColumns: readonly (readonly [title: string, cell: (units: UnitSums) => number | string])[] = [
  ['CACHED', ({ cachedTokens = 0 }) => cachedTokens],
  ['REASONING', ({ reasoningTokens = 0 }) => reasoningTokens],
  ['IMAGES', ({ images = 0 }) => images],
  ['SECONDS', ({ seconds = 0 }) => Math.round(seconds * 1_000) / 1_000],
  ['CHARACTERS', ({ characters = 0 }) => characters],
  ['TOOL CALLS', countToolCalls],
  ['SAVED ITEMS', ({ savedItems = 0 }) => savedItems],
  ['SAVED DOLLARS', ({ savedNanos = 0 }) => (savedNanos === 0 ? 0 : toShortDollars(BigInt(Math.round(savedNanos))))],
];

/** With a line for the total below. */
export function toUsageTable(
  lines: readonly WholeLine[],
  groups: readonly UsageGroup[],
  priceNotes: readonly string[],
): string[] {
  const total = toTotal(lines);
  const counted = unitColumns.filter(([, cell]) => cell(total.units) !== 0);
  const toCells = ({ sums, units }: Figures) => [
    ...toSumCells(sums),
    ...counted.map(([, cell]) => String(cell(units))),
  ];
  const rows = lines.map((line) => [...groups.map((group) => toName(line.by[group])), ...toCells(line)]);
  rows.push([...groups.map((_, index) => (index === 0 ? 'total' : '')), ...toCells(total)]);
  const head = [...groups.map((group) => group.toUpperCase()), ...tableHead, ...counted.map(([title]) => title)];
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const align = (row: readonly string[]): string[] =>
    row.map((cell, column) => (column < groups.length ? cell : cell.padStart(widths[column] ?? 0)));
  const table = toTable(align(head), rows.map(align));
  const notes = [...toNotes([total.sums, ...lines.map(({ sums }) => sums)]), ...priceNotes];
  return notes.length === 0 ? table : [...table, '', ...notes];
}

function toSumCells(sums: UsageSums): string[] {
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
  return notes;
}

/** As of when prices are that nobody wrote at their models. */
export function toPriceNotes(dates: readonly PriceDate[], nowMs: number): string[] {
  return dates.map(({ source, asOf, models }) => {
    const whose = source === 'table' ? 'that come with Postern' : 'that were imported';
    const which = models === 1 ? '1 model goes' : `${models} models go`;
    return `${which} by prices ${whose}, as of ${asOf}${ageText(asOf, nowMs)}.`;
  });
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

function toJsonFields({ sums, units }: Figures) {
  return { ...toFields(sums), units: toSnakeNames<UnitSums[keyof UnitSums]>(units) };
}

export function toUsageJson(lines: readonly WholeLine[], groups: readonly UsageGroup[]) {
  return lines.map((line) => ({
    ...Object.fromEntries(groups.map((group) => [group, line.by[group] === '' ? null : (line.by[group] ?? null)])),
    ...toJsonFields(line),
  }));
}

export const toTotalJson = (lines: readonly WholeLine[]) => toJsonFields(toTotal(lines));

/** A column for each unit, whether it occurs or not: what reads it wants the same columns each time. */
export function toUsageCsv(lines: readonly WholeLine[], groups: readonly UsageGroup[]): string[] {
  const unitNames = [...summedNames, 'toolCalls'].map(toSnakeName);
  const head = [...groups, ...Object.keys(toFields(noSums)), ...unitNames];
  const rows = lines.map(({ by, sums, units }) => [
    ...groups.map((group) => toCsvText(by[group] ?? '')),
    ...Object.values(toFields(sums)).map(String),
    ...summedNames.map((name) => String(units[name] ?? 0)),
    String(countToolCalls(units)),
  ]);
  return [head, ...rows].map((row) => row.join(','));
}
