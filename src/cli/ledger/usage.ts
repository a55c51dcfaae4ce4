/** `postern usage`: who used what, and what it cost, from the sums of the ledger. */

import { resolve } from 'node:path';
import { readWholeUsage } from '../../core/accounting/usage-sums.ts';
import type { ExitCode } from '../../core/exit-code.ts';
import { type UsageGroup, usageGroups } from '../../core/store/ledger.ts';
import { UserFault } from '../../core/user-fault.ts';
import { readWaiting } from '../../ledger/waiting.ts';
import { systemClock } from '../../lib/clock.ts';
import { priceDates } from '../../prices/listed.ts';
import { openConfiguration, openExisting } from '../../serve/configuration.ts';
import { type Command, type CommandContext, configOptions } from '../command.ts';
import { printFaults } from '../faults.ts';
import { words } from '../words.ts';
import { filterOptions, readFilter, readSpan, spanOptions, textOf, toOneOf } from './ledger-options.ts';
import { toPriceNotes, toTotalJson, toUsageCsv, toUsageJson, toUsageTable } from './usage-words.ts';

const defaultFrom = '30d';
const defaultGroups: readonly UsageGroup[] = ['day'];

export const usage: Command = {
  ...words.usage,
  options: {
    ...configOptions,
    by: { type: 'string' },
    ...spanOptions,
    ...filterOptions,
    csv: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run,
};

async function run(context: CommandContext): Promise<ExitCode> {
  const { values, positionals, stdout, stderr } = context;
  if (positionals.length > 0) {
    throw new UserFault(`usage takes no "${positionals[0]}"; write what it is about as options (postern usage --help)`);
  }
  if (values.csv === true && values.json === true) throw new UserFault('--csv and --json exclude each other');
  const groups = readGroups(values);
  const nowMs = systemClock.nowMs();
  const span = readSpan(values, nowMs, defaultFrom);
  const filter = { ...readFilter(values), ...span };
  const found = await openConfiguration(context, openExisting(context));
  if (!found.ok) {
    printFaults(found, stderr);
    return 1;
  }
  try {
    const lines = await readWholeUsage(found.store.ledger, filter, groups);
    const waiting = await readWaiting(resolve(context.cwd, found.loaded.snapshot.ledger.directory), found.store);
    const prices = priceDates(found.loaded.snapshot.models.all);
    const rowsWaiting = waiting.reduce((sum, { rows }) => sum + rows, 0);
    if (values.csv === true) for (const line of toUsageCsv(lines, groups)) stdout(line);
    else if (values.json === true) {
      const { from, to } = toTexts(span);
      const total = toTotalJson(lines);
      const dated = prices.map(({ source, asOf, models }) => ({ source, as_of: asOf, models }));
      const told = { from, to, lines: toUsageJson(lines, groups), total, prices: dated, rows_waiting: rowsWaiting };
      stdout(JSON.stringify(told, null, 2));
    } else if (lines.length === 0) stdout('Nothing was used in this time.');
    else for (const line of toUsageTable(lines, groups, toPriceNotes(prices, nowMs))) stdout(line);
    if (rowsWaiting > 0 && values.json !== true) stderr(inWords(rowsWaiting));
    return 0;
  } finally {
    await found.store.close();
  }
}

function inWords(rows: number): string {
  const wait = rows === 1 ? '1 row waits' : `${rows.toLocaleString('en')} rows wait`;
  return `${wait} in the journal and ${rows === 1 ? 'is' : 'are'} not counted yet; where that lasts, GET /readyz and the log say why.`;
}

function readGroups(values: CommandContext['values']): readonly UsageGroup[] {
  const text = textOf(values, 'by');
  if (text === undefined) return defaultGroups;
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new UserFault(`--by: "${text}" holds an empty name; write it such as key,day`);
  return [...new Set(names.map((name) => toOneOf('by', 'group', name, usageGroups)))];
}

/** What is added up is whole hours. */
function toTexts({ fromMs, toMs }: ReturnType<typeof readSpan>) {
  const hourMs = 3_600_000;
  const toText = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());
  return {
    from: toText(fromMs === undefined ? undefined : Math.floor(fromMs / hourMs) * hourMs),
    to: toText(toMs === undefined ? undefined : Math.ceil(toMs / hourMs) * hourMs),
  };
}
