/** Parses which ledger rows a command concerns: their time span and filters. */

import { rowOutcomes } from '../../core/accounting/ledger-row.ts';
import { operations } from '../../core/operations/index.ts';
import type { LedgerFilter } from '../../core/store/ledger.ts';
import { UserFault } from '../../core/user-fault.ts';
import { nearHint } from '../../lib/nearest-name.ts';
import { toInstantMs, toMilliseconds } from '../../lib/quantities.ts';
import type { CommandContext } from '../command.ts';

type Values = CommandContext['values'];

const dayMs = 86_400_000;

export const spanUsage = '[--from 7d|2026-11-01] [--to 2026-11-30]';

export const filterUsage = '[--key ID] [--project ID] [--model ID] [--upstream ID] [--operation O] [--outcome O]';

type Span = Pick<LedgerFilter, 'fromMs' | 'toMs'>;

/** The time span of `--from` and `--to`; without `--from` it begins at `defaultFrom`. */
export function readSpan(values: Values, nowMs: number, defaultFrom?: string): Span {
  const from = textOf(values, 'from') ?? defaultFrom;
  const to = textOf(values, 'to');
  const fromMs = from === undefined ? undefined : toTime('from', from, nowMs);
  const toMs = to === undefined ? undefined : toTime('to', to, nowMs);
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) {
    throw new UserFault(`--from: ${from} is not before --to, ${to}`);
  }
  return { fromMs, toMs };
}

/** The time of an option. A date is its whole day in UTC, `7d` today and the six days before; other durations count from now. */
function toTime(option: 'from' | 'to', text: string, nowMs: number): number {
  const agoMs = toMilliseconds(text);
  if (agoMs !== undefined) {
    const tomorrowMs = Math.floor(nowMs / dayMs) * dayMs + dayMs;
    const atMs = (agoMs % dayMs === 0 && agoMs > 0 ? tomorrowMs : nowMs) - agoMs;
    if (atMs < 0) throw new UserFault(`--${option}: ${text} ago is before 1970`);
    return atMs;
  }
  const atMs = toInstantMs(text);
  if (atMs === undefined || atMs < 0) {
    throw new UserFault(
      `--${option}: "${text}" is neither a date such as 2026-11-01 or 2026-11-01T09:00Z nor a time such as 7d or 12h`,
    );
  }
  const isDay = text.length === 'yyyy-mm-dd'.length;
  return option === 'to' && isDay ? atMs + dayMs : atMs;
}

/** The filter for ledger rows; a name that no row has is no fault and matches nothing. */
export function readFilter(values: Values): LedgerFilter {
  return {
    key: textOf(values, 'key'),
    project: textOf(values, 'project'),
    model: textOf(values, 'model'),
    upstream: textOf(values, 'upstream'),
    operation: readOneOf(values, 'operation', operations),
    outcome: readOneOf(values, 'outcome', rowOutcomes),
    status: readWhole(values, 'status', 0, 599),
    clientRequestId: textOf(values, 'request-id'),
  };
}

export function readWhole(values: Values, option: string, least: number, most: number): number | undefined {
  const text = textOf(values, option);
  if (text === undefined) return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UserFault(`--${option}: "${text}" is no whole number from ${least} to ${most}`);
}

function readOneOf<T extends string>(values: Values, option: string, known: readonly T[]): T | undefined {
  const text = textOf(values, option);
  return text === undefined ? undefined : toOneOf(option, option, text, known);
}

export function toOneOf<T extends string>(option: string, noun: string, text: string, known: readonly T[]): T {
  const found = known.find((name) => name === text);
  if (found !== undefined) return found;
  const all = known.join(', ');
  throw new UserFault(`--${option}: there is no ${noun} "${text}"${nearHint(text, known)} (there are ${all})`);
}

/** An option's text; undefined where it is absent. An empty value is refused, because it is most likely a mistake. */
export function textOf(values: Values, option: string): string | undefined {
  const value = values[option];
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (text === '') throw new UserFault(`--${option} is empty; leave it out, or give a value`);
  return text;
}
