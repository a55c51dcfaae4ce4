/** `postern usage`: prints usage and cost by group, from the ledger's sums. */

import { resolve } from 'node:path';
import { countToolCalls, summedNames, type UnitSums } from '../../core/accounting/units.ts';
import { noSums, readWholeUsage, toTotal, type WholeLine } from '../../core/accounting/usage-sums.ts';
import { type UsageGroup, type UsageSums, usageGroups } from '../../core/store/ledger.ts';
import { type ExitCode, UserFault } from '../../core/user-fault.ts';
import { readWaitingRows } from '../../journal/waiting.ts';
import { systemClock } from '../../lib/clock.ts';
import { toCsvText } from '../../lib/csv.ts';
import { toDollars } from '../../lib/money.ts';
import { ageText, type PriceDate, priceDates } from '../../prices/listed.ts';
import { openConfiguration, openExisting } from '../../serve/configuration.ts';
import { type CommandContext, commandOf, configUsage } from '../command.ts';
import { faultless, toPrintable, toTable } from '../output.ts';
import { filterUsage, readFilter, readSpan, spanUsage, textOf, toOneOf } from './ledger-options.ts';
import { toSnakeName, toSnakeNames } from './ledger-words.ts';

/** Nano-dollars to which tables round: a millionth of a dollar. */
const nanosShown = 1_000n;

type Figures = Pick<WholeLine, 'sums' | 'units'>;

const tableHead = ['REQUESTS', 'ERRORS', 'INPUT', 'OUTPUT', 'UNITS', 'ITEMS', 'DOLLARS', 'UNPRICED', 'ESTIMATED'];

/** Columns of units; each is shown only where some line has a value. */
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

/** The table of usage, with the total in its last line. */
function toUsageTable(
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

function toNotes([total = noSums, ...lines]: readonly UsageSums[]): string[] {
  const notes: string[] = [];
  if (lines.some(({ costNanos }) => costNanos % nanosShown !== 0n)) {
    notes.push('Dollars are rounded to six decimals here; --csv and --json have all of them.');
  }
  if (total.unpriced > 0) notes.push('The cost of unpriced requests is unknown and not in the sum.');
  return notes;
}

function toPriceNotes(dates: readonly PriceDate[], nowMs: number): string[] {
  return dates.map(({ source, asOf, models }) => {
    const origin = source === 'table' ? 'that come with Postern' : 'that were imported';
    const which = models === 1 ? '1 model goes' : `${models} models go`;
    return `${which} by prices ${origin}, as of ${asOf}${ageText(asOf, nowMs)}.`;
  });
}

/** Dollars with at least two decimals, and at most six. */
export function toShortDollars(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  if (size > 0n && size < nanosShown) return nanos < 0n ? '>-0.000001' : '<0.000001';
  const rounded = ((size + nanosShown / 2n) / nanosShown) * nanosShown;
  const [whole = '0', fraction = ''] = toDollars(rounded).split('.');
  return `${nanos < 0n ? '-' : ''}${whole}.${fraction.padEnd(2, '0')}`;
}

/** The sums under the names that CSV and JSON share; money is exact, as decimal text. */
function toFields(sums: UsageSums) {
  const { requests, errors, inputTokens, outputTokens, searchUnits, items, costNanos } = sums;
  const { unpriced, estimated, requestBytes, responseBytes, durationMs } = sums;
  return toSnakeNames<number | string>({
    ...{ requests, errors, inputTokens, outputTokens, searchUnits, items, costDollars: toDollars(costNanos) },
    ...{ unpriced, estimated, requestBytes, responseBytes, durationMs: Math.round(durationMs) },
  });
}

function toJsonFields({ sums, units }: Figures) {
  return { ...toFields(sums), units: toSnakeNames<UnitSums[keyof UnitSums]>(units) };
}

function toUsageJson(lines: readonly WholeLine[], groups: readonly UsageGroup[]) {
  return lines.map((line) => ({
    ...Object.fromEntries(groups.map((group) => [group, line.by[group] === '' ? null : (line.by[group] ?? null)])),
    ...toJsonFields(line),
  }));
}

/** The lines as CSV, with a column for each unit even if none is used: readers expect the same columns each time. */
function toUsageCsv(lines: readonly WholeLine[], groups: readonly UsageGroup[]): string[] {
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

const defaultFrom = '30d';
const defaultGroups: readonly UsageGroup[] = ['day'];

export const usage = commandOf('usage', `${configUsage} --by KEY,DAY ${spanUsage} ${filterUsage} --csv --json`, run);

async function run(context: CommandContext): Promise<ExitCode> {
  const { values, stdout, stderr } = context;
  if (values.csv === true && values.json === true) throw new UserFault('--csv and --json exclude each other');
  const groups = readGroups(values);
  const nowMs = systemClock.nowMs();
  const span = readSpan(values, nowMs, defaultFrom);
  const filter = { ...readFilter(values), ...span };
  const found = faultless(await openConfiguration(context, openExisting(context)));
  try {
    const lines = await readWholeUsage(found.store.ledger, filter, groups);
    const waiting = await readWaitingRows(resolve(context.cwd, found.loaded.snapshot.ledger.directory), found.store);
    const prices = priceDates(found.loaded.snapshot.models.all);
    const rowsWaiting = waiting.reduce((sum, { rows }) => sum + rows, 0);
    if (values.csv === true) for (const line of toUsageCsv(lines, groups)) stdout(line);
    else if (values.json === true) {
      const { from, to } = toTexts(span);
      const total = toJsonFields(toTotal(lines));
      const dated = prices.map(({ source, asOf, models }) => ({ source, as_of: asOf, models }));
      const report = { from, to, lines: toUsageJson(lines, groups), total, prices: dated, rows_waiting: rowsWaiting };
      stdout(JSON.stringify(report, null, 2));
    } else if (lines.length === 0) stdout('There was no usage in this time.');
    else for (const line of toUsageTable(lines, groups, toPriceNotes(prices, nowMs))) stdout(line);
    if (rowsWaiting > 0 && values.json !== true) stderr(inWords(rowsWaiting));
    return 0;
  } finally {
    await found.store.close();
  }
}

function inWords(rows: number): string {
  const wait = rows === 1 ? '1 row waits' : `${rows.toLocaleString('en')} rows wait`;
  return `${wait} in the journal and ${rows === 1 ? 'is' : 'are'} not counted yet; if that lasts, GET /readyz and the log give the reason.`;
}

function readGroups(values: CommandContext['values']): readonly UsageGroup[] {
  const text = textOf(values, 'by');
  if (text === undefined) return defaultGroups;
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new UserFault(`--by: "${text}" holds an empty name; write it such as key,day`);
  return [...new Set(names.map((name) => toOneOf('by', 'group', name, usageGroups)))];
}

/** The time span as text; it is widened to whole hours, which the sums cover. */
function toTexts({ fromMs, toMs }: ReturnType<typeof readSpan>) {
  const hourMs = 3_600_000;
  const toText = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
  return {
    from: toText(fromMs === undefined ? undefined : Math.floor(fromMs / hourMs) * hourMs),
    to: toText(toMs === undefined ? undefined : Math.ceil(toMs / hourMs) * hourMs),
  };
}
