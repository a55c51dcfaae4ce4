/** Formats ledger rows as text. */

import type { Capture, LedgerRow } from '../../core/accounting/ledger-row.ts';
import type { Units } from '../../core/accounting/units.ts';
import { toDollars } from '../../lib/money.ts';
import { toPrintable } from '../output.ts';

const otherNames: Readonly<Record<string, string>> = {
  startedAtMs: 'started_at',
  isEstimated: 'estimated',
  costNanos: 'cost_dollars',
};

/** A row for scripts, with its fields in their usual order. */
export function describeRow(row: LedgerRow): Readonly<Record<string, unknown>> {
  const { startedAtMs, costNanos, tries, units } = row;
  const shown = {
    ...row,
    startedAtMs: new Date(startedAtMs).toISOString(),
    costNanos: costNanos === null ? null : toDollars(costNanos),
    tries: tries.map(({ upstream, model, credential = null, outcome, detail = null, durationMs, connectMs = null }) =>
      toSnakeNames<unknown>({ upstream, model, credential, outcome, detail, durationMs, connectMs }),
    ),
    units: units && toSnakeNames(units),
  };
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [otherNames[name] ?? toSnakeName(name), value]),
  );
}

/** A row for people, one line for each fact. */
export function toRowLines(row: LedgerRow, capture: Capture | undefined): [name: string, value: string][] {
  const { tries: _, units: __, ...fields } = describeRow(row);
  const lines: [string, string][] = Object.entries(fields).map(([name, value]) => [name, toCell(value)]);
  for (const [name, value] of Object.entries(row.units ?? {})) lines.push([toSnakeName(name), toUnitCell(value)]);
  for (const [index, one] of row.tries.entries()) {
    const took = one.connectMs === undefined ? '' : `, ${one.connectMs} ms of it until connected`;
    const words = [one.upstream, one.model, one.credential, one.outcome, one.detail, `${one.durationMs} ms${took}`];
    lines.push([`try ${index + 1}`, toPrintable(words.filter((word) => word !== undefined).join(' '))]);
  }
  if (capture !== undefined) {
    lines.push(['captured until', new Date(capture.expiresAtMs).toISOString()]);
    lines.push(['request', toPrintable(capture.request)]);
    lines.push(['response', toPrintable(capture.response)]);
  }
  return lines;
}

/** The columns of `ledger tail` have fixed minimum widths, because later rows are unknown when the first line is printed. */
const columns: readonly [title: string, width: number, cell: (row: LedgerRow) => string][] = [
  ['STARTED', 24, ({ startedAtMs }) => new Date(startedAtMs).toISOString()],
  ['STATUS', 6, ({ status }) => String(status)],
  ['OUTCOME', 7, ({ outcome }) => outcome],
  ['KEY', 20, ({ key }) => key],
  ['ROUTE', 15, ({ route }) => route],
  ['MODEL', 24, ({ model }) => model ?? '-'],
  ['UPSTREAM', 12, ({ upstream }) => upstream ?? '-'],
  ['INPUT', 7, ({ billedInputTokens }) => toCell(billedInputTokens)],
  ['OUTPUT', 7, ({ billedOutputTokens }) => toCell(billedOutputTokens)],
  ['DOLLARS', 11, ({ costNanos }) => (costNanos === null ? 'unknown' : toDollars(costNanos))],
  ['MS', 8, ({ durationMs }) => String(durationMs)],
  ['ID', 32, ({ id }) => id],
];

export const tailHead = columns
  .map(([title, width]) => title.padEnd(width))
  .join('  ')
  .trimEnd();

export function toTailLine(row: LedgerRow): string {
  return columns
    .map(([, width, cell]) => toPrintable(cell(row)).padEnd(width))
    .join('  ')
    .trimEnd();
}

/** The values under names in snake_case, for JSON output. */
export function toSnakeNames<T>(units: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(units).map(([name, value]) => [toSnakeName(name), value]));
}

export const toSnakeName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The table cell of a unit; for tool calls it has the number of each kind. */
function toUnitCell(value: Units[keyof Units] = ''): string {
  if (typeof value !== 'object') return toCell(value);
  const kinds = Object.entries(value).map(([kind, count]) => `${kind} ${count}`);
  return toPrintable(kinds.join(', '));
}

const toCell = (value: unknown): string => (value === null ? '-' : toPrintable(String(value)));
