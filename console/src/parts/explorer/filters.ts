/** Reads and writes the Explorer's filters as URL parameters, so that a link shows the same selection. */

import { operations, requestResults, rowOutcomes, seriesDimensions } from '../../../../src/admin/contract.ts';
import { oneOf } from '../api/asking.ts';
import { dimensionWords } from '../words/labels.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const ranges = {
  '5m': { label: 'Last 5 minutes, live', words: 'the last 5 minutes', ms: 5 * minuteMs },
  '15m': { label: 'Last 15 minutes', words: 'the last 15 minutes', ms: 15 * minuteMs },
  '1h': { label: 'Last hour', words: 'the last hour', ms: hourMs },
  '6h': { label: 'Last 6 hours', words: 'the last 6 hours', ms: 6 * hourMs },
  '24h': { label: 'Last 24 hours', words: 'the last 24 hours', ms: dayMs },
  '7d': { label: 'Last 7 days', words: 'the last 7 days', ms: 7 * dayMs },
  '30d': { label: 'Last 30 days', words: 'the last 30 days', ms: 30 * dayMs },
} as const;
export type Range = keyof typeof ranges;

export const standardRange: Range = '24h';

/** Filters that apply only to ledger rows, as series do not support them. */
const rowFields = ['status', 'minDurationMs', 'minCost', 'tag'] as const;
/** All filters, in the order of the menu. */
export const fields = [...seriesDimensions, ...rowFields] as const;
export type Field = (typeof fields)[number];

export const fieldWords: Readonly<Record<Field, string>> = {
  ...dimensionWords,
  status: 'Status',
  minDurationMs: 'Took at least, in ms',
  minCost: 'Cost at least, in $',
  tag: 'Tag of the key',
};

/** Active filters that apply to the rows, but not to the charts. */
export const chartsLack = ({ values }: Filters): readonly Field[] =>
  rowFields.filter((field) => values[field] !== undefined);

/** The ledger's outcomes that each result of the console stands for. */
const outcomesOf: Readonly<Record<string, readonly (typeof rowOutcomes)[number][]>> = {
  succeeded: ['ok'],
  failed: ['error', 'cut', 'lost'],
  refused: ['refused'],
  cancelled: ['aborted'],
};

export interface Filters {
  /** The time range as a preset; undefined if the user chose both ends. */
  readonly range: Range | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** The ID to search for, the gateway's or the client's; the search then ignores the time. */
  readonly search: string;
  readonly values: Readonly<Partial<Record<Field, string>>>;
}

const isRange = (text: string | null): text is Range => text !== null && Object.hasOwn(ranges, text);

/** The time in a parameter; undefined for an invalid one, which is then no filter. */
function readTime(text: string | null): string | undefined {
  if (text === null) return undefined;
  const ms = Date.parse(text);
  return Number.isFinite(ms) && ms >= 0 ? new Date(ms).toISOString() : undefined;
}

export function readFilters(query: URLSearchParams): Filters {
  const asked = query.get('range');
  const values: Partial<Record<Field, string>> = {};
  for (const field of fields) {
    const value = query.get(field)?.trim();
    if (value) values[field] = value;
  }
  const [from, to] = isRange(asked) ? [] : [readTime(query.get('from')), readTime(query.get('to'))];
  const hasOwn = from !== undefined || to !== undefined;
  return {
    range: isRange(asked) ? asked : hasOwn ? undefined : standardRange,
    from,
    to,
    search: query.get('q')?.trim() ?? '',
    values,
  };
}

/** The filters as URL parameters. The page number is dropped, because the list changes. */
export const toParameters = ({ range, from, to, search, values }: Filters) => ({
  ...{ range: range === standardRange ? undefined : range, from, to, q: search || undefined, before: undefined },
  ...Object.fromEntries(fields.map((field) => [field, values[field] || undefined])),
});

export const noFilters: Filters = { range: standardRange, from: undefined, to: undefined, search: '', values: {} };

export const isNarrowed = ({ search, values }: Filters): boolean => search !== '' || Object.keys(values).length > 0;

/** The time range in milliseconds. A preset or an open end lasts until now; an open start begins the longest preset ago. */
export function spanOf(
  { range, from, to }: Filters,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  const toMs = to === undefined ? nowMs : Date.parse(to);
  if (range !== undefined) return { fromMs: nowMs - ranges[range].ms, toMs: nowMs };
  return { fromMs: from === undefined ? toMs - ranges['30d'].ms : Date.parse(from), toMs };
}

/** Both ends of the time range for the API; none for a search, which ignores the time. */
function toSpan(filters: Filters, nowMs: number): { readonly from?: string; readonly to?: string } {
  if (filters.search !== '') return {};
  const { fromMs, toMs } = spanOf(filters, nowMs);
  return {
    from: new Date(fromMs).toISOString(),
    ...(filters.to === undefined ? {} : { to: new Date(toMs).toISOString() }),
  };
}

export function toSeriesQuery(filters: Filters, nowMs: number) {
  const { model, upstream, key, project, operation, outcome, code, cache } = filters.values;
  return {
    ...toSpan(filters, nowMs),
    ...{ model, upstream, key, project, code },
    operation: oneOf(operations, operation),
    outcome: oneOf([...requestResults, ...rowOutcomes], outcome),
    cache: oneOf(['hit', 'partial', 'miss'], cache),
  };
}

const isStatus = (code: string | undefined): boolean => code !== undefined && /^\d{3}$/.test(code);

/** The queries for rows: one for each ledger outcome; the caller merges their rows. */
export function toRowQueries(filters: Filters, nowMs: number): readonly ReturnType<typeof toQuery>[] {
  const { outcome } = filters.values;
  const query = toQuery(filters, nowMs);
  if (outcome === undefined) return [query];
  return (outcomesOf[outcome] ?? [outcome]).map((one) => ({ ...query, outcome: oneOf(rowOutcomes, one) }));
}

/** The query for rows of one outcome. The caller adds the search, which can be one of two parameters. */
export function toQuery(filters: Filters, nowMs: number) {
  const { key, project, model, upstream, operation, outcome, code, cache, status } = filters.values;
  const { minDurationMs, minCost, tag } = filters.values;
  return {
    ...toSpan(filters, nowMs),
    ...{ key, project, model, upstream, minDurationMs, minCost, tag },
    operation: oneOf(operations, operation),
    outcome: oneOf(rowOutcomes, outcome === undefined ? undefined : (outcomesOf[outcome]?.[0] ?? outcome)),
    status: status ?? (isStatus(code) ? code : undefined),
    code: isStatus(code) ? undefined : code,
    cache: oneOf(['hit', 'partial', 'miss'], cache),
  };
}

export const isOneQuery = (filters: Filters): boolean => toRowQueries(filters, 0).length === 1;

/** Whether the live tail supports these filters; it supports fewer than the list. */
export function canBeFollowed(filters: Filters): boolean {
  const { code, cache, minDurationMs, minCost, tag } = toQuery(filters, 0);
  return isOneQuery(filters) && [code, cache, minDurationMs, minCost, tag].every((each) => each === undefined);
}

/** Whether a text may be a gateway ID, or the beginning of one: these are hex digits. A client's ID may be anything. */
export const mayBeOwnId = (search: string): boolean => /^[0-9a-f]{4,32}$/i.test(search);
